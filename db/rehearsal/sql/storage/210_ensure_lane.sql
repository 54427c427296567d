-- Registers a lane if it is not there yet. Waits for the lane's lock even when
-- it is. Needs INSERT and SELECT on queue_lanes and both heads.
CREATE FUNCTION rehearsal_ensure_lane(p_queue text, p_priority smallint, p_enqueue_shard smallint) RETURNS void
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO queue_lanes (queue, priority) VALUES (p_queue, p_priority) ON CONFLICT DO NOTHING;
    INSERT INTO queue_enqueue_heads (queue, priority, enqueue_shard)
    VALUES (p_queue, p_priority, p_enqueue_shard) ON CONFLICT DO NOTHING;
    INSERT INTO queue_claim_heads (queue, priority, enqueue_shard)
    VALUES (p_queue, p_priority, p_enqueue_shard) ON CONFLICT DO NOTHING;
END
$$
