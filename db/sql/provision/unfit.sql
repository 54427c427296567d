-- How many heads the lanes of a queue ($2) below a count ($3) should have, and
-- how many of them are missing or have no sequence. $1 = schema. Cost: at most
-- 4 × 64 × 2 look-ups by key. Needs SELECT on queue_lanes and both heads.
SELECT count(*)::int4,
       count(*) FILTER (WHERE NOT EXISTS (
         SELECT FROM pg_class s JOIN pg_namespace n ON n.oid = s.relnamespace
          WHERE n.nspname = $1::text AND s.relkind = 'S' AND s.relname = w.seq_name))::int4
  FROM (SELECT e.seq_name
          FROM @schema@.queue_lanes l CROSS JOIN generate_series(0, $3::int4 - 1) g(shard)
          LEFT JOIN @schema@.queue_enqueue_heads e
            ON e.queue = l.queue AND e.priority = l.priority AND e.enqueue_shard = g.shard
         WHERE l.queue = $2::text
         UNION ALL
        SELECT c.seq_name
          FROM @schema@.queue_lanes l CROSS JOIN generate_series(0, $3::int4 - 1) g(shard)
          LEFT JOIN @schema@.queue_claim_heads c
            ON c.queue = l.queue AND c.priority = l.priority AND c.enqueue_shard = g.shard
         WHERE l.queue = $2::text) w
