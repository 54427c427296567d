-- Whether the things shardpilot builds on are in the catalogue; $1 is the
-- storage schema. One row for each probe. Constant cost; no privilege needed.
SELECT 'column awa.queue_meta.enqueue_shards' AS probe, false AS needed_to_watch,
       EXISTS (SELECT FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'awa' AND c.relname = 'queue_meta'
                  AND a.attname = 'enqueue_shards' AND NOT a.attisdropped) AS there
UNION ALL
SELECT format('column %I.%I.seq_name', $1::text, t.name), true,
       EXISTS (SELECT FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = $1::text AND c.relname = t.name
                  AND a.attname = 'seq_name' AND NOT a.attisdropped)
  FROM unnest(ARRAY['queue_enqueue_heads', 'queue_claim_heads']) t(name)
UNION ALL
SELECT format('table %I.%I', $1::text, t.name), true,
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = $1::text AND c.relname = t.name AND c.relkind IN ('r', 'p'))
  FROM unnest(ARRAY['queue_lanes', 'ready_segments', 'ready_tombstones']) t(name)
UNION ALL
SELECT format('function %I.reserve_enqueue_seq that takes a transaction-level advisory lock', $1::text), false,
       EXISTS (SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                WHERE n.nspname = $1::text AND p.proname = 'reserve_enqueue_seq'
                  AND oidvectortypes(p.proargtypes) = 'text, smallint, smallint, bigint'
                  AND p.prosrc LIKE '%pg\_advisory\_xact\_lock(%')
