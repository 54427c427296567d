-- Whether shardpilot's schema is there, is ours, and may be read. Constant
-- cost; no privilege needed.
SELECT n.oid IS NOT NULL,
       c.oid IS NOT NULL,
       coalesce(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), false),
       coalesce(pg_get_userbyid(n.nspowner)::text, '')
  FROM (VALUES (1)) one
  LEFT JOIN pg_namespace n ON n.nspname = 'shardpilot'
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'version' AND c.relkind = 'r'
