-- One job through all of it: lane, number, row. Returns the job's identity.
-- Needs what its three parts need.
CREATE FUNCTION rehearsal_enqueue_one(
    p_queue text, p_priority smallint, p_enqueue_shard smallint, p_kind text, p_args jsonb,
    p_max_attempts smallint, p_run_at timestamptz, p_payload jsonb,
    p_unique_key bytea, p_unique_states text
) RETURNS bigint
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM rehearsal_ensure_lane(p_queue, p_priority, p_enqueue_shard);
    RETURN rehearsal_append(
        p_queue, p_priority, p_enqueue_shard,
        reserve_enqueue_seq(p_queue, p_priority, p_enqueue_shard, 1), 1,
        p_kind, p_args, p_max_attempts, p_run_at, p_payload, p_unique_key, p_unique_states);
END
$$
