-- The configured count of every queue that has lanes, a row in queue_meta or a
-- policy. Cost: those three tables. Needs SELECT on them.
SELECT q.queue, coalesce(m.enqueue_shards, 1)::int4, EXISTS (SELECT FROM @schema@.queue_lanes l WHERE l.queue = q.queue)
  FROM (SELECT queue FROM @schema@.queue_lanes UNION SELECT queue FROM awa.queue_meta
        UNION SELECT queue FROM shardpilot.policy) q
  LEFT JOIN awa.queue_meta m ON m.queue = q.queue
 WHERE $1::text = '' OR q.queue = $1::text
 ORDER BY q.queue
