-- Takes p_count consecutive numbers of a lane and keeps the lane locked until
-- the transaction ends, so that numbers become visible in their order. With
-- p_count <= 0 it only tells the next number. Needs SELECT on
-- queue_enqueue_heads and UPDATE on the sequence.
CREATE FUNCTION reserve_enqueue_seq(
    p_queue text, p_priority smallint, p_enqueue_shard smallint, p_count bigint
) RETURNS bigint
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    v_name  text;
    v_since timestamptz;
    v_first bigint;
BEGIN
    SELECT format('%I.%I', current_schema(), h.seq_name) INTO v_name
      FROM queue_enqueue_heads AS h
     WHERE h.queue = p_queue AND h.priority = p_priority AND h.enqueue_shard = p_enqueue_shard
       AND h.seq_name IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'lane (%, %, %) has no enqueue sequence', p_queue, p_priority, p_enqueue_shard
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF p_count <= 0 THEN
        EXECUTE format('SELECT last_value + is_called::int FROM %s', v_name) INTO v_first;
        RETURN v_first;
    END IF;

    v_since := clock_timestamp();
    PERFORM pg_advisory_xact_lock(hashtextextended(v_name, 0));
    PERFORM rehearsal_waited(v_since);

    v_first := nextval(v_name::regclass);
    IF p_count > 1 THEN
        PERFORM setval(v_name::regclass, v_first + p_count - 1);
    END IF;
    RETURN v_first;
END
$$
