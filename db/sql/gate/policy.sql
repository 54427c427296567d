-- The policy of one queue ($1), as store/policies.sql has them all. One row.
-- Needs SELECT on policy.
SELECT queue, auto, enforced, coalesce(max_shards, 0), coalesce(accepted_by, ''), accepted_at,
       pin_shards, pin_until, pin_by, pin_why,
       pause_up_at, pause_up_by, pause_up_why, pause_down_at, pause_down_by, pause_down_why,
       updated_by, updated_at, generation
  FROM shardpilot.policy
 WHERE queue = $1::text
