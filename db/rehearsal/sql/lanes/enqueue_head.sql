-- Makes an enqueue head that is missing. Not an upsert: that would wait behind
-- the lane's producers. Needs INSERT and SELECT, and CREATE on the schema for
-- the sequence.
INSERT INTO queue_enqueue_heads (queue, priority, enqueue_shard)
SELECT $1, $2::smallint, $3::smallint
 WHERE NOT EXISTS (SELECT FROM queue_enqueue_heads
                    WHERE queue = $1 AND priority = $2::smallint AND enqueue_shard = $3::smallint)
