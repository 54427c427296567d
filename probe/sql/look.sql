-- One look: who holds and who waits for advisory locks of this database, and
-- who stands at the lock under which notifying transactions commit. Everything
-- comes from one copy of the lock table, so holders and waiters agree.
--
-- $1 ask the gate (pg_stat_activity: does anybody wait for an advisory lock?)
-- $2 read pg_locks whatever the gate says
-- $3 lane keys to match here, NULL to return every int8 advisory lock
-- $4 most rows to return
--
-- Cost: pg_locks copies the lock table under all of its partition locks, so it
-- grows with every lock in the cluster; the gate only grows with connections.
-- The gate is an init plan: when it is closed pg_locks is not touched at all.
-- Rights: none. Without pg_read_all_stats the gate cannot be asked (other
-- roles' wait events are NULL) and counts as open.
-- The last row, kind 0, carries the clock and what the statement cost.
with here as materialized (
    select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()
), gate as materialized (
    select case
        when not $1::bool then null
        when not pg_catalog.pg_has_role('pg_read_all_stats', 'usage') then true
        else exists (
            select from pg_catalog.pg_stat_activity a
            where a.wait_event_type = 'Lock' and a.wait_event = 'advisory'
              and a.datid = (select oid from here))
        end as open
)
(select case l.locktype when 'advisory' then 1 else 2 end::int2 as kind,
        l.pid,
        (l.classid::int8 << 32) | l.objid::int8 as key,
        l.granted as yes,
        l.virtualtransaction as txn,
        null::bool as open,
        null::timestamptz as at,
        null::float8 as cost
 from pg_catalog.pg_locks l
 where ($2::bool or (select open from gate))
   and ((l.locktype = 'advisory' and l.database = (select oid from here) and l.objsubid = 1
         and ($3::int8[] is null
              or ((l.classid::int8 << 32) | l.objid::int8) = any ($3::int8[])))
     or (l.locktype = 'object' and l.classid = 1262 and l.database = 0 and l.objid = 0
         and l.mode = 'AccessExclusiveLock'))
 limit $4::int8)
union all
select 0::int2, null, null, pg_catalog.pg_has_role('pg_read_all_stats', 'usage'), null,
       (select open from gate),
       pg_catalog.clock_timestamp(),
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
