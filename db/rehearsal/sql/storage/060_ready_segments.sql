-- Runs of lane numbers that were committed together. Needs CREATE on the schema.
CREATE TABLE ready_segments (
    ready_slot       integer     NOT NULL,
    ready_generation bigint      NOT NULL,
    queue            text        NOT NULL,
    priority         smallint    NOT NULL,
    enqueue_shard    smallint    NOT NULL DEFAULT 0,
    first_lane_seq   bigint      NOT NULL,
    next_lane_seq    bigint      NOT NULL,
    first_run_at     timestamptz NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (ready_slot, ready_generation, queue, priority, enqueue_shard, first_lane_seq),
    CHECK (first_lane_seq < next_lane_seq)
) WITH (vacuum_truncate = false)
