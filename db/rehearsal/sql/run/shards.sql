-- The configured count of a queue, 1 when nobody set it. One row by key; needs
-- SELECT on awa.queue_meta.
SELECT coalesce(max(enqueue_shards), 1)::int FROM awa.queue_meta WHERE queue = $1
