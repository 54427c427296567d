-- The lanes of the queues $2 (NULL: all), with the key of each lane's enqueue
-- lock. The key is the hash of the quoted sequence name, so it is made where
-- the quoting rules live.
-- Cost: a pass over both heads; asked only for what changed.
-- Rights: SELECT on <storage>.queue_enqueue_heads and queue_claim_heads.
select e.queue,
       e.priority::int4,
       e.enqueue_shard::int4,
       pg_catalog.hashtextextended(pg_catalog.format('%I.%I', $1::text, e.seq_name), 0),
       e.seq_name,
       coalesce(c.seq_name, ''),
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
from __storage__.queue_enqueue_heads e
left join __storage__.queue_claim_heads c
  on c.queue = e.queue and c.priority = e.priority and c.enqueue_shard = e.enqueue_shard
where e.seq_name is not null
  and ($2::text[] is null or e.queue = any ($2::text[]))
