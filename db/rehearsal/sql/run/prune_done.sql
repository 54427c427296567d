-- Forgets completed jobs older than $1 seconds among the oldest $2 identities,
-- and counts them on their lane. Needs SELECT and DELETE on rehearsal_done,
-- UPDATE on queue_lanes.
WITH gone AS (
    DELETE FROM rehearsal_done
     WHERE completed_at < clock_timestamp() - make_interval(secs => $1)
       AND job_id < $2 + (SELECT min(job_id) FROM rehearsal_done)
    RETURNING queue, priority),
counted AS (SELECT queue, priority, count(*) AS n FROM gone GROUP BY queue, priority),
kept AS (
    UPDATE queue_lanes AS l SET pruned_completed_count = l.pruned_completed_count + c.n
      FROM counted AS c WHERE l.queue = c.queue AND l.priority = c.priority)
SELECT coalesce(sum(n), 0)::bigint FROM counted
