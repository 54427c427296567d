-- Jobs taken out of a lane before they were claimed. Needs CREATE on the schema.
CREATE TABLE ready_tombstones (
    ready_slot       integer     NOT NULL,
    ready_generation bigint      NOT NULL,
    queue            text        NOT NULL,
    priority         smallint    NOT NULL,
    enqueue_shard    smallint    NOT NULL DEFAULT 0,
    lane_seq         bigint      NOT NULL,
    job_id           bigint      NOT NULL,
    tombstoned_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (ready_slot, queue, priority, enqueue_shard, lane_seq, ready_generation)
)
