-- A producer reports the count it works with; $3 NULL means that it asks anew
-- for each job. Needs INSERT and UPDATE on shardpilot.producer and SELECT on
-- awa.queue_meta.
INSERT INTO shardpilot.producer (instance_id, queue, shards, observed_at)
VALUES ($1, $2, coalesce($3::int, (SELECT m.enqueue_shards FROM awa.queue_meta AS m WHERE m.queue = $2), 1), now())
ON CONFLICT (instance_id, queue) DO UPDATE SET shards = excluded.shards, observed_at = excluded.observed_at
