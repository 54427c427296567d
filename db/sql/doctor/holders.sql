-- Transactions that have held a lane for longer than $1 seconds; those whose
-- age is hidden from us come with NULL. Reads all of pg_locks once (31 ms with
-- 34,000 locks) and both head tables' lanes. Needs SELECT on
-- queue_enqueue_heads; pg_read_all_stats for the ages. $2 = schema.
SELECT h.queue::text, h.priority::int4, h.enqueue_shard::int4, l.pid::int4,
       extract(epoch FROM clock_timestamp() - a.xact_start)::float8,
       coalesce(a.state, '')::text, coalesce(a.usename, '')::text, coalesce(a.application_name, '')::text
  FROM (SELECT queue, priority, enqueue_shard,
               hashtextextended(format('%I.%I', $2::text, seq_name), 0) AS key
          FROM @schema@.queue_enqueue_heads WHERE seq_name IS NOT NULL) h
  JOIN pg_locks l ON l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
   AND l.classid::int8 = (h.key >> 32) & 4294967295
   AND l.objid::int8 = h.key & 4294967295
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
 WHERE a.xact_start IS NULL OR a.xact_start < clock_timestamp() - make_interval(secs => $1::float8)
 ORDER BY 5 DESC NULLS LAST, 1, 2, 3
 LIMIT 50
