-- Every queue that has lanes, with its configured shard count: a queue without
-- a row in queue_meta has one.
-- Cost: a pass over queue_lanes, 1 to 2 ms with 4,000 rows.
-- Rights: SELECT on <storage>.queue_lanes and awa.queue_meta.
select l.queue,
       coalesce(m.enqueue_shards, 1)::int4,
       pg_catalog.clock_timestamp(),
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
from (select distinct queue from __storage__.queue_lanes) l
left join awa.queue_meta m on m.queue = l.queue
