-- The configured count of a queue ($1). One row by key. Needs SELECT on
-- queue_meta.
SELECT coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = $1::text), 1)::int4
