-- Who owns the sequences of the lanes, for each owner: how many there are, how
-- many our role cannot read, whether it will be able to read those that the
-- owner makes later, and whether it may act as the owner ($2 is the privilege
-- that SET ROLE needs: SET, or MEMBER before PostgreSQL 16), whether it is a
-- superuser, and whether it owns a lane of shard 0, since further lanes are made
-- in the name of that one's owner. $1 = schema.
-- Cost: both head tables and one catalogue look-up a lane. Needs USAGE on the
-- storage schema and SELECT on both head tables.
SELECT o.rolname::text,
       count(*)::int8,
       count(*) FILTER (WHERE NOT has_sequence_privilege(s.oid, 'SELECT, USAGE'))::int8,
       pg_has_role(o.oid, 'USAGE') OR pg_has_role('pg_read_all_data', 'USAGE')
         OR EXISTS (SELECT FROM pg_default_acl d, aclexplode(d.defaclacl) a
                     WHERE d.defaclrole = o.oid AND d.defaclobjtype = 'S'
                       AND d.defaclnamespace IN (0, n.oid)
                       AND a.privilege_type IN ('SELECT', 'USAGE')
                       AND CASE WHEN a.grantee = 0 THEN true ELSE pg_has_role(a.grantee, 'USAGE') END),
       pg_has_role(o.oid, $2::text), o.rolsuper, bool_or(h.enqueue_shard = 0)
  FROM (SELECT seq_name, enqueue_shard FROM @schema@.queue_enqueue_heads
        UNION ALL SELECT seq_name, enqueue_shard FROM @schema@.queue_claim_heads) h
  JOIN pg_namespace n ON n.nspname = $1::text
  JOIN pg_class s ON s.relnamespace = n.oid AND s.relname = h.seq_name AND s.relkind = 'S'
  JOIN pg_roles o ON o.oid = s.relowner
 GROUP BY o.oid, o.rolname, o.rolsuper, n.oid
 ORDER BY o.rolname
