-- Claims up to p_max jobs from the best lane that no other worker is at: lowest
-- priority number first, then the oldest. Looks at every lane of the queue, so
-- its cost grows with their number. The cursor moves over committed numbers
-- only. Needs SELECT and UPDATE on queue_claim_heads, SELECT on ready_entries
-- and ready_segments, INSERT on rehearsal_lease, UPDATE on the claim sequence.
CREATE FUNCTION rehearsal_claim(p_queue text, p_worker text, p_max integer) RETURNS SETOF bigint
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    v_head queue_claim_heads;
    v_next bigint;
BEGIN
    SELECT h.* INTO v_head
      FROM queue_claim_heads AS h
     CROSS JOIN LATERAL (
           SELECT s.first_run_at
             FROM ready_segments AS s
            WHERE s.queue = h.queue AND s.priority = h.priority AND s.enqueue_shard = h.enqueue_shard
              AND s.next_lane_seq > coalesce(h.ready_segment_next_lane_seq, 1)
            ORDER BY s.next_lane_seq LIMIT 1) AS oldest
     WHERE h.queue = p_queue
       AND NOT EXISTS (SELECT FROM queue_meta AS m WHERE m.queue = h.queue AND m.paused)
     ORDER BY h.priority, oldest.first_run_at
     LIMIT 1
       FOR UPDATE OF h SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;

    RETURN QUERY
    INSERT INTO rehearsal_lease (job_id, worker, queue, priority, enqueue_shard, lane_seq)
    SELECT e.job_id, p_worker, e.queue, e.priority, e.enqueue_shard, e.lane_seq
      FROM ready_entries AS e
     WHERE e.ready_slot = 0 AND e.queue = v_head.queue AND e.priority = v_head.priority
       AND e.enqueue_shard = v_head.enqueue_shard
       AND e.lane_seq >= coalesce(v_head.ready_segment_next_lane_seq, 1)
     ORDER BY e.lane_seq LIMIT p_max
    RETURNING job_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;

    SELECT max(l.lane_seq) + 1 INTO v_next
      FROM rehearsal_lease AS l
     WHERE l.worker = p_worker AND l.queue = v_head.queue AND l.priority = v_head.priority
       AND l.enqueue_shard = v_head.enqueue_shard;
    UPDATE queue_claim_heads AS h SET ready_segment_next_lane_seq = v_next
     WHERE h.queue = v_head.queue AND h.priority = v_head.priority AND h.enqueue_shard = v_head.enqueue_shard;
    PERFORM setval(format('%I.%I', current_schema(), v_head.seq_name)::regclass, v_next - 1);
END
$$
