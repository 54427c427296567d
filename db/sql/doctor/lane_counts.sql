-- For each queue that has lanes or a row in queue_meta: the configured count,
-- its priorities, the lanes above the count, and how many of those that the
-- count needs are missing from either head table. Cost: queue_meta, queue_lanes
-- and both head tables once. Needs SELECT on them.
WITH want AS (
  SELECT coalesce(m.queue, l.queue) AS queue, coalesce(m.enqueue_shards, 1)::int4 AS shards, l.priority
    FROM awa.queue_meta m FULL JOIN @schema@.queue_lanes l ON l.queue = m.queue),
heads AS (
  SELECT e.queue, e.priority, e.enqueue_shard
    FROM @schema@.queue_enqueue_heads e
    JOIN @schema@.queue_claim_heads c USING (queue, priority, enqueue_shard)
   WHERE e.seq_name IS NOT NULL AND c.seq_name IS NOT NULL)
SELECT w.queue::text, max(w.shards)::int4, count(DISTINCT w.priority)::int4,
       (count(*) FILTER (WHERE h.enqueue_shard >= w.shards))::int4,
       (count(DISTINCT w.priority) * max(w.shards) - count(*) FILTER (WHERE h.enqueue_shard < w.shards))::int4
  FROM want w
  LEFT JOIN heads h ON h.queue = w.queue AND h.priority = w.priority
 GROUP BY w.queue
 ORDER BY w.queue
