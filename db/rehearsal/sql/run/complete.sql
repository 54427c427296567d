-- Completes the jobs of a worker that it still holds. By key; needs DELETE on
-- rehearsal_lease and INSERT on rehearsal_done.
WITH held AS (
    DELETE FROM rehearsal_lease WHERE job_id = ANY ($1) AND worker = $2
    RETURNING job_id, queue, priority, enqueue_shard, lane_seq, worker, claimed_at)
INSERT INTO rehearsal_done (job_id, queue, priority, enqueue_shard, lane_seq, worker, claimed_at)
SELECT job_id, queue, priority, enqueue_shard, lane_seq, worker, claimed_at FROM held
