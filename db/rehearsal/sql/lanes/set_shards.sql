-- Sets the count of a queue and leaves every other setting alone. Needs INSERT
-- and UPDATE on awa.queue_meta.
INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ($1, $2)
ON CONFLICT (queue) DO UPDATE SET enqueue_shards = excluded.enqueue_shards
