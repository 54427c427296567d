-- What operators set for a queue; a missing row means one enqueue shard.
-- Needs CREATE on awa.
CREATE TABLE queue_meta (
    queue                     text     NOT NULL PRIMARY KEY,
    paused                    boolean  NOT NULL DEFAULT false,
    paused_at                 timestamptz,
    paused_by                 text,
    enqueue_shards            smallint NOT NULL DEFAULT 1
        CONSTRAINT queue_meta_enqueue_shards_range CHECK (enqueue_shards BETWEEN 1 AND 64),
    override_poll_interval_ms integer          CHECK (override_poll_interval_ms > 0),
    override_claim_batch_size integer          CHECK (override_claim_batch_size > 0),
    override_rate_limit       double precision CHECK (override_rate_limit > 0),
    override_deadline_ms      bigint           CHECK (override_deadline_ms >= 0),
    overrides_updated_at      timestamptz
)
