-- Lanes that have ready segments at all, with the end of the newest: every
-- other lane is empty, and one that is claimed up to its end is empty too.
-- Cost: a pass over all segments, 10 ms for 6,400. Asked where one statement
-- cannot cover all lanes.
-- Rights: SELECT on <storage>.ready_segments.
select r.queue, r.priority::int4, r.enqueue_shard::int4, max(r.next_lane_seq),
       extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.now())::float8
from __storage__.ready_segments r
group by 1, 2, 3
