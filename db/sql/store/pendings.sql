-- Every pending step, by queue. Cost: at most one row a queue. Needs SELECT on
-- pending.
SELECT queue, from_shards, to_shards, generation, created_at, expires_at, reason, detail, evidence::text, predicted_gain
  FROM shardpilot.pending
 ORDER BY queue
