-- The same for a missing claim head.
INSERT INTO @schema@.queue_claim_heads (queue, priority, enqueue_shard)
SELECT $1::text, $2::int2, $3::int2
 WHERE NOT EXISTS (SELECT FROM @schema@.queue_claim_heads
                    WHERE queue = $1::text AND priority = $2::int2 AND enqueue_shard = $3::int2)
