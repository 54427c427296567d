-- Awa's runtime instances, ages by the server's clock. A row is stale when it
-- has not been refreshed for three of its intervals, 30 s at least. Keys of the
-- queue list that we do not know are left alone.
-- Cost: a small table, below 1 ms.
-- Rights: SELECT on awa.runtime_instances.
select i.instance_id::text,
       coalesce(i.hostname, ''),
       i.pid,
       coalesce(i.version, ''),
       coalesce(i.healthy, false),
       coalesce(i.leader, false),
       coalesce(i.shutting_down, false),
       i.last_seen_at + greatest(3 * greatest(i.snapshot_interval_ms, 1000) * interval '1 millisecond',
                                 interval '30 seconds') < pg_catalog.clock_timestamp(),
       greatest(extract(epoch from pg_catalog.clock_timestamp() - i.last_seen_at), 0)::float8,
       greatest(extract(epoch from pg_catalog.clock_timestamp() - i.started_at), 0)::float8,
       (select coalesce(pg_catalog.array_agg(q.one ->> 'queue'), '{}')
        from pg_catalog.jsonb_array_elements(
            case pg_catalog.jsonb_typeof(i.queues) when 'array' then i.queues else '[]' end) q(one)
        where q.one ->> 'queue' is not null),
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
from awa.runtime_instances i
order by i.hostname nulls last, i.instance_id
limit 10000
