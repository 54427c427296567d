-- The first policy of a queue; no row is written when somebody was faster.
-- Needs INSERT on policy.
INSERT INTO shardpilot.policy (queue, auto, enforced, max_shards, accepted_by, accepted_at,
       pin_shards, pin_until, pin_by, pin_why, pause_up_at, pause_up_by, pause_up_why,
       pause_down_at, pause_down_by, pause_down_why, updated_by)
VALUES ($1::text, $2::bool, $3::bool, nullif($4::int4, 0), nullif($5::text, ''), $6::timestamptz,
       $7::int4, $8::timestamptz, $9::text, $10::text, $11::timestamptz, $12::text, $13::text,
       $14::timestamptz, $15::text, $16::text, $17::text)
ON CONFLICT (queue) DO NOTHING
