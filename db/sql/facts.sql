-- What the statements about rights need to know: database, role, version, who
-- owns the storage schema's lane table ($1 = schema), what of shardpilot's own
-- schema is there. Constant cost; no privilege needed.
SELECT current_database()::text,
       current_user::text,
       current_setting('server_version_num')::int4,
       coalesce((SELECT pg_get_userbyid(c.relowner)::text FROM pg_class c
                   JOIN pg_namespace n ON n.oid = c.relnamespace
                  WHERE n.nspname = $1::text AND c.relname = 'queue_enqueue_heads'), ''),
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'shardpilot' AND c.relname = 'version' AND c.relkind = 'r'),
       pg_has_role('pg_read_all_stats', 'USAGE'),
       coalesce((SELECT rolinherit FROM pg_roles WHERE rolname = current_user), true)
