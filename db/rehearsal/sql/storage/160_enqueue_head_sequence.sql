-- Gives a new enqueue head its sequence. Fires before the conflict check, hence
-- for every enqueue through insert_job_compat.
CREATE FUNCTION queue_enqueue_head_sequence_sync() RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
    NEW.seq_name := queue_lane_sequence_name('queue_enqueue_seq', NEW.queue, NEW.priority, NEW.enqueue_shard);
    PERFORM rehearsal_lane_sequence_at_least(NEW.seq_name, NEW.next_seq);
    RETURN NEW;
END
$$
