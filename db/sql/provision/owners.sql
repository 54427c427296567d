-- Whether our login role may act as each of some roles ($1), and whether they
-- are superusers; $2 is the privilege that SET ROLE needs (SET, or MEMBER before
-- PostgreSQL 16). Constant cost; no privilege needed.
SELECT r.rolname::text, pg_has_role(session_user, r.oid, $2::text), r.rolsuper
  FROM pg_roles r WHERE r.rolname = ANY ($1::text[])
 ORDER BY r.rolname
