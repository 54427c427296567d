-- The log: transitions of decisions, changes, verdicts, operators' acts. Rows
-- are only added, and pruned from the old end.
CREATE TABLE shardpilot.decision (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at             timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind           text NOT NULL CHECK (kind IN ('decision', 'change', 'verification', 'act', 'leader')),
  queue          text,
  mode           text CHECK (mode IN ('manual', 'shadow', 'enforced')),
  action         text,
  from_shards    int4 CHECK (from_shards BETWEEN 0 AND 64),
  to_shards      int4 CHECK (to_shards BETWEEN 0 AND 64),
  reason         text,
  detail         text NOT NULL DEFAULT '',
  blockers       jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(blockers) = 'array'),
  evidence       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(evidence) = 'object'),
  gain           float8,
  predicted_gain float8,
  pending        boolean NOT NULL DEFAULT false,
  actor          text NOT NULL,
  host           text NOT NULL DEFAULT '',
  epoch          bigint,
  outcome        text CHECK (outcome IN ('applied', 'superseded', 'refused', 'failed',
                                         'kept', 'ineffective', 'harmful', 'inconclusive')),
  CONSTRAINT decision_names_its_queue CHECK (queue IS NOT NULL OR kind = 'leader')
)
