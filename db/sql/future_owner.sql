-- The same as lane_owners.sql for one role ($1, the owner of the lane table in
-- schema $2) that owns no sequence yet, $3 as there. Constant cost; no
-- privilege needed.
SELECT o.rolname::text, 0::int8, 0::int8,
       pg_has_role(o.oid, 'USAGE') OR pg_has_role('pg_read_all_data', 'USAGE')
         OR EXISTS (SELECT FROM pg_default_acl d, aclexplode(d.defaclacl) a
                     WHERE d.defaclrole = o.oid AND d.defaclobjtype = 'S'
                       AND d.defaclnamespace IN (0, (SELECT oid FROM pg_namespace WHERE nspname = $2::text))
                       AND a.privilege_type IN ('SELECT', 'USAGE')
                       AND CASE WHEN a.grantee = 0 THEN true ELSE pg_has_role(a.grantee, 'USAGE') END),
       pg_has_role(o.oid, $3::text), o.rolsuper, true
  FROM pg_roles o WHERE o.rolname = $1::text
