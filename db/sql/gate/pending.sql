-- One pending step ($1 = queue, $2 = generation) and whether its time is over.
-- One row. Needs SELECT on pending.
SELECT from_shards, to_shards, expires_at, expires_at <= clock_timestamp()
  FROM shardpilot.pending
 WHERE queue = $1::text AND generation = $2::int8
