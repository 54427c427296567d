-- Ready jobs and lag of the lanes ($2, $3, $4) = (queue, priority, shard),
-- whose claim sequences $5 lie in schema $1: the segments past the claim
-- cursor, less the tombstones past it. A segment whose jobs are all cancelled
-- says nothing about lag. All NULL when our role may not read the claim
-- sequence; the cursor comes back too.
-- Cost: about 10 ms for 300 lanes with ten segments each; the planner chooses
-- between probing the indexes and passing over both tables, which for many lanes
-- and 16 partitions was two to four times as quick. On a lane with tombstones
-- each segment is looked up among them by key, which took 30 ms for 5,000. A
-- relation lock a claim sequence: at most about 300 lanes at once.
-- Rights: SELECT on <storage>.ready_segments and ready_tombstones, USAGE or
-- SELECT on the claim sequences.
with lane as materialized (
    select u.ord, u.queue, u.priority, u.shard,
           pg_catalog.to_regclass(pg_catalog.format('%I.%I', $1::text, u.seq))::oid as seq
    from unnest($2::text[], $3::int2[], $4::int2[], $5::text[])
         with ordinality u(queue, priority, shard, seq, ord)
    where u.seq <> ''
), claimed as materialized (
    select lane.*,
           case when pg_catalog.has_sequence_privilege(lane.seq, 'usage, select')
                then coalesce(pg_catalog.pg_sequence_last_value(lane.seq) + 1, 1) end as cn
    from lane
), gone as (
    select c.ord, count(*) as jobs
    from claimed c
    join __storage__.ready_tombstones d
      on d.queue = c.queue and d.priority = c.priority and d.enqueue_shard = c.shard and d.lane_seq >= c.cn
    group by c.ord
), ready as (
    select c.ord, sum(r.next_lane_seq - greatest(r.first_lane_seq, c.cn)) as jobs,
           min(r.first_run_at) filter (where case when g.jobs is null then true else
               r.next_lane_seq - greatest(r.first_lane_seq, c.cn) > (
                   select count(*)
                   from __storage__.ready_tombstones d
                   where d.ready_slot = r.ready_slot and d.ready_generation = r.ready_generation
                     and d.queue = r.queue and d.priority = r.priority and d.enqueue_shard = r.enqueue_shard
                     and d.lane_seq >= greatest(r.first_lane_seq, c.cn)
                     and d.lane_seq < r.next_lane_seq) end) as oldest
    from claimed c
    join __storage__.ready_segments r
      on r.queue = c.queue and r.priority = c.priority and r.enqueue_shard = c.shard and r.next_lane_seq > c.cn
    left join gone g on g.ord = c.ord
    group by c.ord
)
select c.ord::int4,
       c.cn,
       case when c.cn is not null then greatest(coalesce(r.jobs, 0) - coalesce(g.jobs, 0), 0) end::int8,
       extract(epoch from pg_catalog.clock_timestamp() - r.oldest)::float8,
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
from claimed c
left join ready r on r.ord = c.ord
left join gone g on g.ord = c.ord
