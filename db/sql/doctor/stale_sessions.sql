-- Producers that are at this moment at a lane which the configured count does
-- not have, holding it or waiting for it. Reads all of pg_locks once (31 ms with
-- 34,000 locks), queue_meta and the lanes above their count. Needs SELECT on
-- queue_meta and queue_enqueue_heads; pg_read_all_stats for address and
-- application of other roles' sessions. $1 = schema.
SELECT h.queue::text, h.priority::int4, h.enqueue_shard::int4, h.shards::int4, l.pid::int4,
       coalesce(host(a.client_addr), '')::text, coalesce(a.application_name, '')::text
  FROM (SELECT e.queue, e.priority, e.enqueue_shard, coalesce(m.enqueue_shards, 1) AS shards,
               hashtextextended(format('%I.%I', $1::text, e.seq_name), 0) AS key
          FROM @schema@.queue_enqueue_heads e LEFT JOIN awa.queue_meta m ON m.queue = e.queue
         WHERE e.seq_name IS NOT NULL AND e.enqueue_shard >= coalesce(m.enqueue_shards, 1)) h
  JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 1 AND l.pid IS NOT NULL
   AND l.classid::int8 = (h.key >> 32) & 4294967295
   AND l.objid::int8 = h.key & 4294967295
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
 ORDER BY 1, 2, 3, 5
 LIMIT 200
