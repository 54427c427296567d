-- The log: what the controller decided, every attempt to change a count with
-- its outcome, verdicts, operators' acts. Rows are only added, and pruned from
-- the old end. Writers take a lock first, so ids become visible in their order.
CREATE TABLE shardpilot.decision (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at             timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind           text NOT NULL CHECK (kind IN ('decision', 'proposed', 'withdrawn', 'change', 'adopted', 'verdict', 'act')),
  queue          text NOT NULL CHECK (queue <> ''),
  mode           text CHECK (mode IN ('manual', 'shadow', 'enforced')),
  action         text CHECK (action IN ('hold', 'grow', 'shrink')),
  from_shards    int4 NOT NULL CHECK (from_shards >= 0),
  to_shards      int4 NOT NULL CHECK (to_shards >= 0),
  reason         text NOT NULL DEFAULT '',
  detail         text NOT NULL DEFAULT '',
  actor          text NOT NULL CHECK (actor <> ''),
  host           text NOT NULL DEFAULT '',
  role           text NOT NULL DEFAULT session_user,
  why            text NOT NULL DEFAULT '',
  verb           text,
  outcome        text CHECK (outcome IN ('applied', 'superseded', 'refused', 'failed')),
  verdict        text CHECK (verdict IN ('kept', 'ineffective', 'harmful', 'inconclusive')),
  gain           float8,
  predicted_gain float8,
  until          timestamptz,
  forced         boolean NOT NULL DEFAULT false,
  pending        bigint NOT NULL DEFAULT 0 CHECK (pending >= 0),
  blockers       jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(blockers) = 'array'),
  evidence       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(evidence) = 'object'),
  before         jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(before) = 'object'),
  epoch          bigint,
  CONSTRAINT decision_change_has_outcome CHECK (kind <> 'change' OR outcome IS NOT NULL),
  CONSTRAINT decision_verdict_is_given CHECK (kind <> 'verdict' OR verdict IS NOT NULL)
)
