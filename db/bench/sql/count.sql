-- The configured count of a queue ($1). One row of queue_meta.
SELECT coalesce((SELECT enqueue_shards FROM awa.queue_meta WHERE queue = $1), 1)::int4
