-- The lanes of a queue that lack a head below a count, in the order in which
-- they are to be made. Reads at most 4 × 64 rows; needs SELECT on queue_lanes
-- and both heads.
SELECT l.priority, n::smallint
  FROM queue_lanes AS l
 CROSS JOIN generate_series(0, $2::int - 1) AS n
 WHERE l.queue = $1
   AND NOT (EXISTS (SELECT FROM queue_enqueue_heads AS h
                     WHERE h.queue = l.queue AND h.priority = l.priority AND h.enqueue_shard = n)
        AND EXISTS (SELECT FROM queue_claim_heads AS h
                     WHERE h.queue = l.queue AND h.priority = l.priority AND h.enqueue_shard = n))
 ORDER BY l.priority, n
