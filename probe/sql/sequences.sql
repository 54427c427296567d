-- Where the sequences $2 of schema $1 stand: the last number given out, 0 when
-- none was, NULL when our role may not know or the sequence is gone.
-- Cost: a relation lock a sequence until the statement ends, so never more
-- than about 300 at once; some 10 us each, 100 us the first time in a session.
-- Rights: USAGE or SELECT on the sequences; PostgreSQL 15 fails without, newer
-- ones answer NULL, hence the question first.
select s.ord::int4,
       case when pg_catalog.has_sequence_privilege(s.oid, 'usage, select')
            then coalesce(pg_catalog.pg_sequence_last_value(s.oid), 0) end,
       pg_catalog.clock_timestamp(),
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
from (select u.ord, pg_catalog.to_regclass(pg_catalog.format('%I.%I', $1::text, u.name))::oid as oid
      from unnest($2::text[]) with ordinality u(name, ord)) s
