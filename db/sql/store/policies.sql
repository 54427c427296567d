-- Every policy, by queue. Cost: the rows, one a queue that was ever touched.
-- Needs SELECT on policy.
SELECT queue, auto, enforced, coalesce(max_shards, 0), coalesce(accepted_by, ''), accepted_at,
       pin_shards, pin_until, pin_by, pin_why,
       pause_up_at, pause_up_by, pause_up_why, pause_down_at, pause_down_by, pause_down_why,
       updated_by, updated_at, generation
  FROM shardpilot.policy
 ORDER BY queue
