-- Compare-and-set for a queue ($1) whose count is expected to be 1, which a
-- missing row means too: to $2. Every other column stays. No row back: the
-- count was another. Waits for whoever holds the row. Needs INSERT, SELECT and
-- UPDATE on queue_meta.
INSERT INTO awa.queue_meta AS m (queue, enqueue_shards) VALUES ($1::text, $2::int2)
ON CONFLICT (queue) DO UPDATE SET enqueue_shards = EXCLUDED.enqueue_shards WHERE m.enqueue_shards = 1
