-- The step of a queue that waits for a hand: at most one, single use, with the
-- evidence it stands on. generation tells it from every earlier one.
CREATE TABLE shardpilot.pending (
  queue          text PRIMARY KEY CHECK (queue <> ''),
  from_shards    int4 NOT NULL CHECK (from_shards BETWEEN 1 AND 64),
  to_shards      int4 NOT NULL CHECK (to_shards BETWEEN 1 AND 64 AND to_shards <> from_shards),
  generation     bigint NOT NULL CHECK (generation > 0),
  reason         text NOT NULL,
  detail         text NOT NULL DEFAULT '',
  evidence       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(evidence) = 'object'),
  predicted_gain float8,
  created_at     timestamptz NOT NULL,
  expires_at     timestamptz NOT NULL CHECK (expires_at > created_at)
)
