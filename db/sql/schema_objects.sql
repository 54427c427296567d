-- What is in shardpilot's schema, of every kind, as type and name. Indexes, row
-- types and constraints belong to their tables and are not listed. Cost: the
-- dependencies of one schema; no privilege needed.
SELECT i.type::text, i.identity::text
  FROM pg_depend d
  CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) i
 WHERE d.refclassid = 'pg_namespace'::regclass
   AND d.refobjid = (SELECT oid FROM pg_namespace WHERE nspname = 'shardpilot')
   AND i.type <> 'default acl'
 ORDER BY 1, 2
