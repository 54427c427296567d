-- The configured count of a queue ($1), and whether it has lanes. Two rows by
-- key. Needs SELECT on queue_meta and queue_lanes.
SELECT coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = $1::text), 1)::int4,
       EXISTS (SELECT FROM @schema@.queue_lanes l WHERE l.queue = $1::text)
