-- Compare-and-set of the count of a queue ($1) from $3, which is above 1, to
-- $2. No row: the count was another. Waits for whoever holds the row. Needs
-- SELECT and UPDATE on queue_meta.
UPDATE awa.queue_meta SET enqueue_shards = $2::int2
 WHERE queue = $1::text AND enqueue_shards = $3::int2
