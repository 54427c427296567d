-- For each wanted privilege: does the object exist, and has the role got it.
-- $1 kind, $2 schema, $3 name, $4 privilege, $5 role ('' = ours). Answered from
-- the catalogue by oid, so a closed schema raises no error. Constant cost; no
-- privilege needed.
SELECT w.n::int4,
       CASE w.kind WHEN 'schema' THEN ns.oid IS NOT NULL
                   WHEN 'table' THEN c.oid IS NOT NULL
                   ELSE p.oid IS NOT NULL END AS there,
       coalesce(CASE w.kind
         WHEN 'schema' THEN has_schema_privilege(w.who, ns.oid, w.privilege)
         WHEN 'table' THEN has_table_privilege(w.who, c.oid, w.privilege)
         ELSE has_function_privilege(w.who, p.oid, w.privilege) END, false) AS have
  FROM (SELECT u.n, u.kind, u.schema, u.name, u.privilege,
               CASE WHEN u.who = '' THEN current_user ELSE u.who::name END AS who
          FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
               WITH ORDINALITY u(kind, schema, name, privilege, who, n)) w
  LEFT JOIN pg_namespace ns ON ns.nspname = w.schema
  LEFT JOIN pg_class c ON w.kind = 'table' AND c.relnamespace = ns.oid AND c.relname = w.name
  LEFT JOIN LATERAL (SELECT oid FROM pg_proc WHERE w.kind = 'function' AND pronamespace = ns.oid
                        AND proname = w.name ORDER BY oid LIMIT 1) p ON true
 ORDER BY w.n
