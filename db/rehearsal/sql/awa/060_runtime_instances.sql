-- Heartbeats of worker processes. Needs CREATE on awa.
CREATE TABLE runtime_instances (
    instance_id                uuid        NOT NULL PRIMARY KEY,
    hostname                   text,
    pid                        integer     NOT NULL,
    version                    text        NOT NULL,
    started_at                 timestamptz NOT NULL,
    last_seen_at               timestamptz NOT NULL DEFAULT now(),
    snapshot_interval_ms       bigint      NOT NULL,
    healthy                    boolean     NOT NULL,
    postgres_connected         boolean     NOT NULL,
    poll_loop_alive            boolean     NOT NULL,
    heartbeat_alive            boolean     NOT NULL,
    shutting_down              boolean     NOT NULL,
    leader                     boolean     NOT NULL,
    global_max_workers         integer,
    queues                     jsonb       NOT NULL DEFAULT '[]',
    maintenance_alive          boolean     NOT NULL DEFAULT false,
    queue_descriptor_hashes    jsonb       NOT NULL DEFAULT '{}',
    job_kind_descriptor_hashes jsonb       NOT NULL DEFAULT '{}',
    storage_capability         text        NOT NULL DEFAULT 'canonical'
        CHECK (storage_capability IN ('canonical', 'canonical_drain_only', 'queue_storage')),
    transition_role            text        NOT NULL DEFAULT 'auto'
        CHECK (transition_role IN ('auto', 'canonical_drain', 'queue_storage_target')),
    binary_version             text
)
