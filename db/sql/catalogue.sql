-- What there is of Awa's fixed schema, and what of it our role may use, asked
-- of pg_catalog by oid: unlike to_regclass and 'awa.x'::regclass that raises no
-- error where the schema is closed to us. Constant cost; no privilege needed.
SELECT 'schema' AS kind, 'awa' AS name,
       n.oid IS NOT NULL AS there,
       coalesce(has_schema_privilege(n.oid, 'USAGE'), false) AS allowed
  FROM (VALUES (1)) one LEFT JOIN pg_namespace n ON n.nspname = 'awa'
UNION ALL
SELECT 'table', t.name, c.oid IS NOT NULL,
       coalesce(has_table_privilege(c.oid, 'SELECT'), false)
  FROM unnest(ARRAY['schema_version', 'storage_transition_state', 'runtime_storage_backends']) t(name)
  LEFT JOIN pg_namespace n ON n.nspname = 'awa'
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.name AND c.relkind IN ('r', 'p', 'v')
UNION ALL
SELECT 'function', t.name, p.oid IS NOT NULL,
       coalesce(has_function_privilege(p.oid, 'EXECUTE'), false)
  FROM unnest(ARRAY['storage_status', 'active_queue_storage_schema', 'active_storage_engine']) t(name)
  LEFT JOIN pg_namespace n ON n.nspname = 'awa'
  LEFT JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = t.name AND p.pronargs = 0
