-- What operators want of a queue. No row is manual. generation is the guard of
-- compare-and-set: every change adds one.
CREATE TABLE shardpilot.policy (
  queue            text PRIMARY KEY,
  mode             text NOT NULL DEFAULT 'manual' CHECK (mode IN ('manual', 'auto')),
  enforced         boolean NOT NULL DEFAULT false,
  max_shards       int4 CHECK (max_shards BETWEEN 2 AND 64),
  fifo_accepted_by text,
  fifo_accepted_at timestamptz,
  pin_value        int4 CHECK (pin_value BETWEEN 1 AND 64),
  pin_until        timestamptz,
  pin_by           text,
  pin_why          text,
  pause_up         boolean NOT NULL DEFAULT false,
  pause_down       boolean NOT NULL DEFAULT false,
  generation       bigint NOT NULL DEFAULT 1 CHECK (generation > 0),
  updated_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_by       text NOT NULL,
  CONSTRAINT policy_auto_has_max CHECK (mode = 'manual' OR max_shards IS NOT NULL),
  CONSTRAINT policy_fifo_is_signed CHECK ((fifo_accepted_by IS NULL) = (fifo_accepted_at IS NULL)),
  CONSTRAINT policy_pin_is_signed CHECK ((pin_value IS NULL) = (pin_by IS NULL)
    AND (pin_value IS NOT NULL OR (pin_until IS NULL AND pin_why IS NULL)))
)
