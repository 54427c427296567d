-- Jobs that a worker has claimed and not completed. The worker's name lets it
-- find its jobs again when a connection broke under a claim. Needs CREATE on
-- the schema.
CREATE TABLE rehearsal_lease (
    job_id        bigint      NOT NULL PRIMARY KEY,
    worker        text        NOT NULL,
    queue         text        NOT NULL,
    priority      smallint    NOT NULL,
    enqueue_shard smallint    NOT NULL,
    lane_seq      bigint      NOT NULL,
    claimed_at    timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (vacuum_truncate = false)
