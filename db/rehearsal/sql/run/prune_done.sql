-- Forgets completed jobs older than $1 seconds, at most $2 of them, and counts
-- them on their lane. Needs DELETE on rehearsal_done, UPDATE on queue_lanes.
WITH gone AS (
    DELETE FROM rehearsal_done WHERE job_id IN (
        SELECT job_id FROM rehearsal_done
         WHERE completed_at < clock_timestamp() - make_interval(secs => $1)
         ORDER BY job_id LIMIT $2)
    RETURNING queue, priority),
counted AS (SELECT queue, priority, count(*) AS n FROM gone GROUP BY queue, priority),
kept AS (
    UPDATE queue_lanes AS l SET pruned_completed_count = l.pruned_completed_count + c.n
      FROM counted AS c WHERE l.queue = c.queue AND l.priority = c.priority)
SELECT coalesce(sum(n), 0)::bigint FROM counted
