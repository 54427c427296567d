-- Jobs that are completed, once each: the key refuses a second completion.
-- Pruned in the background into queue_lanes.pruned_completed_count. Needs
-- CREATE on the schema.
CREATE TABLE rehearsal_done (
    job_id        bigint      NOT NULL PRIMARY KEY,
    queue         text        NOT NULL,
    priority      smallint    NOT NULL,
    enqueue_shard smallint    NOT NULL,
    lane_seq      bigint      NOT NULL,
    worker        text        NOT NULL,
    claimed_at    timestamptz NOT NULL,
    completed_at  timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (vacuum_truncate = false)
