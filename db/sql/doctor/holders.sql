-- Transactions that have held a lane for longer than $1 seconds, prepared ones
-- (pid 0, name in the last column) too; those whose age is hidden from us come
-- with NULL. Reads all of pg_locks once (31 ms with 34,000 locks) and both head
-- tables' lanes. Needs SELECT on queue_enqueue_heads; pg_read_all_stats for the
-- ages. $2 = schema.
SELECT h.queue::text, h.priority::int4, h.enqueue_shard::int4, coalesce(l.pid, 0)::int4,
       extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, p.prepared))::float8,
       coalesce(a.state, CASE WHEN p.gid IS NOT NULL THEN 'prepared' END, '')::text,
       coalesce(a.usename, p.owner, '')::text, coalesce(a.application_name, '')::text, coalesce(p.gid, '')::text
  FROM (SELECT queue, priority, enqueue_shard,
               hashtextextended(format('%I.%I', $2::text, seq_name), 0) AS key
          FROM @schema@.queue_enqueue_heads WHERE seq_name IS NOT NULL) h
  JOIN pg_locks l ON l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
   AND l.classid::int8 = (h.key >> 32) & 4294967295
   AND l.objid::int8 = h.key & 4294967295
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  -- A prepared transaction has no backend; its own id is another of its locks.
  LEFT JOIN pg_locks x ON l.pid IS NULL AND x.pid IS NULL AND x.locktype = 'transactionid'
   AND x.virtualtransaction = l.virtualtransaction
  LEFT JOIN pg_prepared_xacts p ON p.transaction = x.transactionid
 WHERE coalesce(a.xact_start, p.prepared) IS NULL
    OR coalesce(a.xact_start, p.prepared) < clock_timestamp() - make_interval(secs => $1::float8)
 ORDER BY 5 DESC NULLS LAST, 1, 2, 3
 LIMIT 50
