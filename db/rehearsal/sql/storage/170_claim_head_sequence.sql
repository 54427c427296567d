-- Gives a new claim head its sequence. The key it takes for a moment is that of
-- the claim sequence, no enqueue lane, so the stop-watch is put back.
CREATE FUNCTION queue_claim_head_sequence_sync() RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    v_waited text := coalesce(current_setting('rehearsal.lane_wait', true), '');
BEGIN
    NEW.seq_name := queue_lane_sequence_name('queue_claim_seq', NEW.queue, NEW.priority, NEW.enqueue_shard);
    PERFORM rehearsal_lane_sequence_at_least(NEW.seq_name, NEW.claim_seq);
    IF current_setting('rehearsal.stopwatch', true) = 'on' THEN
        PERFORM set_config('rehearsal.lane_wait', v_waited, true);
    END IF;
    RETURN NEW;
END
$$
