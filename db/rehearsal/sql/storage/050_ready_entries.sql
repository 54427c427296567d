-- Jobs that may run, in lane order. Rows behind the claim cursor are pruned in
-- the background; truncation is off because it would lock producers out.
-- Needs CREATE on the schema.
CREATE TABLE ready_entries (
    ready_slot       integer     NOT NULL,
    ready_generation bigint      NOT NULL,
    job_id           bigint      NOT NULL,
    kind             text        NOT NULL,
    queue            text        NOT NULL,
    args             jsonb       NOT NULL DEFAULT '{}',
    priority         smallint    NOT NULL,
    attempt          smallint    NOT NULL DEFAULT 0,
    run_lease        bigint      NOT NULL DEFAULT 0,
    max_attempts     smallint    NOT NULL DEFAULT 25,
    lane_seq         bigint      NOT NULL,
    enqueue_shard    smallint    NOT NULL DEFAULT 0,
    run_at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempted_at     timestamptz,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    unique_key       bytea,
    unique_states    text,
    payload          jsonb,
    PRIMARY KEY (ready_slot, queue, priority, enqueue_shard, lane_seq)
) WITH (vacuum_truncate = false)
