-- What producers reported within the last $1 seconds, ages by the server's
-- clock.
-- Cost: a small table. Rights: USAGE on shardpilot, SELECT on its producer.
select p.instance_id::text,
       p.queue,
       p.shards::int4,
       greatest(extract(epoch from pg_catalog.clock_timestamp() - p.observed_at), 0)::float8,
       p.observed_at,
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
from shardpilot.producer p
where p.observed_at > pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $1::float8)
order by 2, 1
limit 100000
