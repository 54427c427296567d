-- The schemas with our mark, awa first, none unless awa has it. Catalogue only.
SELECT n.nspname
  FROM pg_namespace AS n
 WHERE obj_description(n.oid, 'pg_namespace') = $1
   AND obj_description(to_regnamespace('awa')::oid, 'pg_namespace') = $1
 ORDER BY n.nspname <> 'awa', n.nspname
