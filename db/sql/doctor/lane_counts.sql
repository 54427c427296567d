-- For each queue that has lanes or a row in queue_meta: the configured count,
-- the lanes there are in both head tables, and how many of those that the count
-- needs are missing. Cost: queue_meta, queue_lanes and both head tables once.
-- Needs SELECT on them.
WITH want AS (
  SELECT coalesce(m.queue, l.queue) AS queue, coalesce(m.enqueue_shards, 1) AS shards, l.priority
    FROM awa.queue_meta m FULL JOIN @schema@.queue_lanes l ON l.queue = m.queue),
heads AS (
  SELECT e.queue, e.priority, e.enqueue_shard
    FROM @schema@.queue_enqueue_heads e
    JOIN @schema@.queue_claim_heads c USING (queue, priority, enqueue_shard)
   WHERE e.seq_name IS NOT NULL AND c.seq_name IS NOT NULL)
SELECT w.queue::text, max(w.shards)::int4 AS shards,
       count(DISTINCT w.priority)::int4 AS priorities,
       coalesce(sum((SELECT count(*) FROM heads h WHERE h.queue = w.queue AND h.priority = w.priority
                       AND h.enqueue_shard >= w.shards)), 0)::int4 AS above,
       coalesce(sum(CASE WHEN w.priority IS NULL THEN 0 ELSE w.shards -
                (SELECT count(*) FROM heads h WHERE h.queue = w.queue AND h.priority = w.priority
                       AND h.enqueue_shard < w.shards) END), 0)::int4 AS missing
  FROM want w
 GROUP BY w.queue
 ORDER BY w.queue
