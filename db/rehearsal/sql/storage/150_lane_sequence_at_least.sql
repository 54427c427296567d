-- Sees that a lane's sequence exists and that its next number is at least
-- p_next. Takes the sequence's lane lock at session level and lets go of it at
-- once, needed or not: an insert that ends in a conflict waits for the lane
-- too, as it does in Awa. Needs CREATE on the schema for a new lane, and UPDATE
-- on the sequence when it moves.
CREATE FUNCTION rehearsal_lane_sequence_at_least(p_seq_name text, p_next bigint) RETURNS void
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    v_name  text        := format('%I.%I', current_schema(), p_seq_name);
    v_key   bigint      := hashtextextended(v_name, 0);
    v_since timestamptz;
    v_now   bigint;
BEGIN
    IF to_regclass(v_name) IS NULL THEN
        EXECUTE 'CREATE SEQUENCE IF NOT EXISTS ' || v_name || ' AS bigint START WITH 1 MINVALUE 1 CACHE 1';
    END IF;
    v_since := clock_timestamp();
    PERFORM pg_advisory_lock(v_key);
    PERFORM rehearsal_waited(v_since);
    IF p_next > 1 THEN
        BEGIN
            EXECUTE format('SELECT last_value + is_called::int FROM %s', v_name) INTO v_now;
            PERFORM setval(v_name::regclass, p_next - 1) WHERE p_next > v_now;
        EXCEPTION WHEN OTHERS THEN
            PERFORM pg_advisory_unlock(v_key);
            RAISE;
        END;
    END IF;
    PERFORM pg_advisory_unlock(v_key);
END
$$
