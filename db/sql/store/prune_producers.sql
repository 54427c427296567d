-- Forgets at most $1 producers that have not reported for $2 seconds. Cost: one
-- walk over producer. Needs SELECT and DELETE on producer.
DELETE FROM shardpilot.producer
 WHERE (instance_id, queue) IN (
   SELECT instance_id, queue FROM shardpilot.producer
    WHERE observed_at < now() - make_interval(secs => $2::float8)
    LIMIT $1::int4)
