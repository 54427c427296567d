-- Replaces the policy of a queue if it still is the one that was read ($18 =
-- its generation). Needs SELECT and UPDATE on policy.
UPDATE shardpilot.policy
   SET auto = $2::bool, enforced = $3::bool, max_shards = nullif($4::int4, 0), accepted_by = nullif($5::text, ''),
       accepted_at = $6::timestamptz, pin_shards = $7::int4, pin_until = $8::timestamptz, pin_by = $9::text,
       pin_why = $10::text, pause_up_at = $11::timestamptz, pause_up_by = $12::text, pause_up_why = $13::text,
       pause_down_at = $14::timestamptz, pause_down_by = $15::text, pause_down_why = $16::text,
       updated_by = $17::text, updated_at = clock_timestamp(), generation = generation + 1
 WHERE queue = $1::text AND generation = $18::int8
