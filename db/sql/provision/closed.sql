-- Who may use the sequences of shard 0 of a queue ($2) and not those of its
-- other lanes below a count ($3): sequence, its owner, whether our login role
-- may act as that owner ($4 = SET, or MEMBER before PostgreSQL 16), the role ('' =
-- PUBLIC), the privilege, and whether it may be passed on. $1 = schema. Cost:
-- a few look-ups for each lane and each role with a privilege. Needs SELECT on
-- both heads.
WITH lane AS (
  SELECT h.enqueue, h.priority, h.enqueue_shard, s.oid, s.relname, s.relowner, s.relacl
    FROM (SELECT true AS enqueue, priority, enqueue_shard, seq_name FROM @schema@.queue_enqueue_heads
           WHERE queue = $2::text AND enqueue_shard < $3::int4
          UNION ALL
          SELECT false, priority, enqueue_shard, seq_name FROM @schema@.queue_claim_heads
           WHERE queue = $2::text AND enqueue_shard < $3::int4) h
    JOIN pg_namespace n ON n.nspname = $1::text
    JOIN pg_class s ON s.relnamespace = n.oid AND s.relname = h.seq_name AND s.relkind = 'S'),
model AS (
  SELECT z.enqueue, z.priority, a.grantee, a.privilege_type, bool_or(a.is_grantable) AS grantable
    FROM lane z CROSS JOIN LATERAL aclexplode(coalesce(z.relacl, acldefault('s', z.relowner))) a
   WHERE z.enqueue_shard = 0
   GROUP BY z.enqueue, z.priority, a.grantee, a.privilege_type)
SELECT l.relname::text, pg_get_userbyid(l.relowner)::text, pg_has_role(session_user, l.relowner, $4::text),
       coalesce(r.rolname::text, ''), m.privilege_type::text, m.grantable
  FROM lane l
  JOIN model m ON m.enqueue = l.enqueue AND m.priority = l.priority
  LEFT JOIN pg_roles r ON r.oid = m.grantee
 WHERE l.enqueue_shard > 0
   AND NOT has_sequence_privilege(coalesce(r.rolname, 'public'), l.oid, m.privilege_type)
 ORDER BY l.priority, l.enqueue_shard, l.relname, 4, 5
