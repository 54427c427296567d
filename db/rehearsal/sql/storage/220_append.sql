-- Writes p_count jobs at lane numbers that the caller has reserved, as one
-- segment, tells whoever listens (unless rehearsal.notify is off), and returns
-- the first job's identity; the others follow in no promised order. Costs a row
-- a job. Needs INSERT on ready_entries and ready_segments, USAGE on job_id_seq.
CREATE FUNCTION rehearsal_append(
    p_queue text, p_priority smallint, p_enqueue_shard smallint, p_first bigint, p_count bigint,
    p_kind text, p_args jsonb, p_max_attempts smallint, p_run_at timestamptz, p_payload jsonb,
    p_unique_key bytea, p_unique_states text
) RETURNS bigint
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    v_id bigint;
BEGIN
    WITH written AS (
        INSERT INTO ready_entries (
            ready_slot, ready_generation, job_id, kind, queue, args, priority, max_attempts,
            lane_seq, enqueue_shard, run_at, payload, unique_key, unique_states)
        SELECT 0, 0, nextval('job_id_seq'), p_kind, p_queue, p_args, p_priority, p_max_attempts,
               n, p_enqueue_shard, p_run_at, p_payload, p_unique_key, p_unique_states
          FROM generate_series(p_first, p_first + p_count - 1) AS n
        RETURNING job_id)
    SELECT min(job_id) INTO v_id FROM written;

    INSERT INTO ready_segments (
        ready_slot, ready_generation, queue, priority, enqueue_shard,
        first_lane_seq, next_lane_seq, first_run_at)
    VALUES (0, 0, p_queue, p_priority, p_enqueue_shard, p_first, p_first + p_count, p_run_at);

    IF current_setting('rehearsal.notify', true) IS DISTINCT FROM 'off' THEN
        PERFORM pg_notify('awa:' || p_queue, '');
    END IF;
    RETURN v_id;
END
$$
