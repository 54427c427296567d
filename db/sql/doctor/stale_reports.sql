-- Producers that reported within the last $1 seconds that they work with another
-- count than the configured one. Cost: the small table of reports, and
-- queue_meta by key. Needs SELECT on shardpilot.producer and awa.queue_meta.
SELECT p.instance_id, p.queue, p.shards::int4, coalesce(m.enqueue_shards, 1)::int4
  FROM shardpilot.producer p LEFT JOIN awa.queue_meta m ON m.queue = p.queue
 WHERE p.observed_at > clock_timestamp() - make_interval(secs => $1::float8)
   AND p.shards <> coalesce(m.enqueue_shards, 1)
 ORDER BY 2, 1
 LIMIT 200
