-- The lanes at or above a shard ($3) of a queue ($2): how many there are, how
-- many hold jobs and how many jobs that is, and of how many the claim sequence
-- is not there or closed to us, so that nothing is known. $1 = schema. Cost: about 14 ms for
-- a busy queue, and a relation lock a lane until the transaction ends. Needs
-- SELECT on both heads, ready_segments and ready_tombstones, USAGE or SELECT
-- on the claim sequences.
WITH lane AS MATERIALIZED (
  SELECT h.priority, h.enqueue_shard,
         CASE WHEN has_sequence_privilege(s.oid, 'USAGE, SELECT')
              THEN coalesce(pg_sequence_last_value(s.oid) + 1, 1) END AS cn
    FROM (SELECT priority, enqueue_shard FROM @schema@.queue_enqueue_heads WHERE queue = $2::text AND enqueue_shard >= $3::int4
          UNION
          SELECT priority, enqueue_shard FROM @schema@.queue_claim_heads WHERE queue = $2::text AND enqueue_shard >= $3::int4) h
    LEFT JOIN @schema@.queue_claim_heads c
      ON c.queue = $2::text AND c.priority = h.priority AND c.enqueue_shard = h.enqueue_shard
    LEFT JOIN pg_namespace n ON n.nspname = $1::text
    LEFT JOIN pg_class s ON s.relnamespace = n.oid AND s.relname = c.seq_name AND s.relkind = 'S'),
deep AS (
  SELECT lane.cn,
         (SELECT coalesce(sum(r.next_lane_seq - greatest(r.first_lane_seq, lane.cn)), 0)
            FROM @schema@.ready_segments r
           WHERE r.queue = $2::text AND r.priority = lane.priority AND r.enqueue_shard = lane.enqueue_shard
             AND r.next_lane_seq > lane.cn)
       - (SELECT count(*) FROM @schema@.ready_tombstones d
           WHERE d.queue = $2::text AND d.priority = lane.priority AND d.enqueue_shard = lane.enqueue_shard
             AND d.lane_seq >= lane.cn) AS jobs
    FROM lane)
SELECT count(*)::int4, count(*) FILTER (WHERE jobs > 0)::int4, coalesce(sum(greatest(jobs, 0)), 0)::int8,
       count(*) FILTER (WHERE cn IS NULL)::int4
  FROM deep
