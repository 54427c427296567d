-- Makes a missing enqueue head; a trigger makes its sequence and takes the
-- lane's key for a moment. Not an upsert: that would fire the trigger for a head
-- that is there, and wait behind its producers. Needs INSERT and SELECT on the
-- heads and CREATE on the schema, as the owner of the lanes.
INSERT INTO @schema@.queue_enqueue_heads (queue, priority, enqueue_shard)
SELECT $1::text, $2::int2, $3::int2
 WHERE NOT EXISTS (SELECT FROM @schema@.queue_enqueue_heads
                    WHERE queue = $1::text AND priority = $2::int2 AND enqueue_shard = $3::int2)
