-- What the sessions $1 do, a row each, those that have ended left out.
-- Cost: one pass over the backends, 0.1 to 0.5 ms.
-- Rights: without pg_read_all_stats everything but user and application of
-- other roles' sessions is NULL; backend_type is never NULL for a session we
-- may see, which tells hidden from empty.
select a.pid,
       coalesce(a.usename, '')::text,
       coalesce(a.application_name, ''),
       case when a.backend_type is null then ''
            else coalesce(pg_catalog.host(a.client_addr), 'local') end,
       coalesce(a.state, ''),
       coalesce(a.wait_event_type || ':' || a.wait_event, ''),
       extract(epoch from pg_catalog.clock_timestamp() - a.xact_start)::float8,
       extract(epoch from pg_catalog.clock_timestamp() - a.state_change)::float8,
       a.backend_type is null,
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
from pg_catalog.pg_stat_activity a
where a.pid = any ($1::int4[])
