-- What operators want of a queue. No row is manual. generation is the guard of
-- compare-and-set: every change adds one.
CREATE TABLE shardpilot.policy (
  queue          text PRIMARY KEY CHECK (queue <> ''),
  auto           boolean NOT NULL DEFAULT false,
  enforced       boolean NOT NULL DEFAULT false,
  max_shards     int4 CHECK (max_shards BETWEEN 2 AND 64),
  accepted_by    text CHECK (accepted_by <> ''),
  accepted_at    timestamptz,
  pin_shards     int4 CHECK (pin_shards BETWEEN 1 AND 64),
  pin_until      timestamptz,
  pin_by         text,
  pin_why        text,
  pause_up_at    timestamptz,
  pause_up_by    text,
  pause_up_why   text,
  pause_down_at  timestamptz,
  pause_down_by  text,
  pause_down_why text,
  generation     bigint NOT NULL DEFAULT 1 CHECK (generation > 0),
  updated_by     text NOT NULL CHECK (updated_by <> ''),
  updated_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT policy_auto_has_max CHECK (NOT auto OR max_shards IS NOT NULL),
  CONSTRAINT policy_auto_is_accepted CHECK (NOT auto OR accepted_by IS NOT NULL),
  CONSTRAINT policy_enforced_is_auto CHECK (auto OR NOT enforced),
  CONSTRAINT policy_acceptance_is_dated CHECK ((accepted_by IS NULL) = (accepted_at IS NULL)),
  CONSTRAINT policy_pin_is_signed CHECK ((pin_shards IS NULL) = (pin_by IS NULL) AND (pin_shards IS NULL) = (pin_why IS NULL)
    AND (pin_shards IS NOT NULL OR pin_until IS NULL)),
  CONSTRAINT policy_pauses_are_signed CHECK (
    (pause_up_at IS NULL) = (pause_up_by IS NULL) AND (pause_up_at IS NULL) = (pause_up_why IS NULL)
    AND (pause_down_at IS NULL) = (pause_down_by IS NULL) AND (pause_down_at IS NULL) = (pause_down_why IS NULL))
)
