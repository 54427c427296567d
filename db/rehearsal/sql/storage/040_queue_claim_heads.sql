-- One row a lane: how far workers have come. The sequence named seq_name is
-- what the world reads; ready_segment_next_lane_seq is the same position under
-- transaction control, so that a claim that aborts loses no job.
-- Updated by every claim, hence the free space. Needs CREATE on the schema.
CREATE TABLE queue_claim_heads (
    queue                       text     NOT NULL,
    priority                    smallint NOT NULL,
    enqueue_shard               smallint NOT NULL DEFAULT 0,
    claim_seq                   bigint   NOT NULL DEFAULT 1,
    seq_name                    text,
    ready_segment_slot          integer,
    ready_segment_generation    bigint,
    ready_segment_next_lane_seq bigint,
    PRIMARY KEY (queue, priority, enqueue_shard)
) WITH (fillfactor = 50)
