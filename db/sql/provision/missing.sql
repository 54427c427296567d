-- The lanes of a queue ($2) below a count ($3) that lack a head, with the roles
-- in whose name the heads are to be made: whoever owns the sequence of shard 0
-- of the same priority, or of another priority, or the table of heads. In the
-- order in which lanes are to be made. $1 = schema. Cost: at most 4 × 64 look-ups
-- by key, none of which takes a lock that producers meet. Needs SELECT on
-- queue_lanes and both heads.
WITH n AS (SELECT oid FROM pg_namespace WHERE nspname = $1::text),
zero AS (
  SELECT h.enqueue, h.priority, s.relowner
    FROM (SELECT true AS enqueue, priority, seq_name FROM @schema@.queue_enqueue_heads WHERE queue = $2::text AND enqueue_shard = 0
          UNION ALL
          SELECT false, priority, seq_name FROM @schema@.queue_claim_heads WHERE queue = $2::text AND enqueue_shard = 0) h
    JOIN pg_class s ON s.relnamespace = (SELECT oid FROM n) AND s.relname = h.seq_name AND s.relkind = 'S')
SELECT l.priority, g.shard::int2,
       NOT EXISTS (SELECT FROM @schema@.queue_enqueue_heads h
                    WHERE h.queue = l.queue AND h.priority = l.priority AND h.enqueue_shard = g.shard),
       NOT EXISTS (SELECT FROM @schema@.queue_claim_heads h
                    WHERE h.queue = l.queue AND h.priority = l.priority AND h.enqueue_shard = g.shard),
       pg_get_userbyid(coalesce((SELECT z.relowner FROM zero z WHERE z.enqueue ORDER BY z.priority <> l.priority, z.priority LIMIT 1),
         (SELECT c.relowner FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM n) AND c.relname = 'queue_enqueue_heads')))::text,
       pg_get_userbyid(coalesce((SELECT z.relowner FROM zero z WHERE NOT z.enqueue ORDER BY z.priority <> l.priority, z.priority LIMIT 1),
         (SELECT c.relowner FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM n) AND c.relname = 'queue_claim_heads')))::text
  FROM @schema@.queue_lanes l
 CROSS JOIN generate_series(0, $3::int4 - 1) g(shard)
 WHERE l.queue = $2::text
   AND NOT (EXISTS (SELECT FROM @schema@.queue_enqueue_heads h
                     WHERE h.queue = l.queue AND h.priority = l.priority AND h.enqueue_shard = g.shard)
        AND EXISTS (SELECT FROM @schema@.queue_claim_heads h
                     WHERE h.queue = l.queue AND h.priority = l.priority AND h.enqueue_shard = g.shard))
 ORDER BY l.priority, g.shard
