-- Adds a wait to the transaction's stop-watch, for sessions that asked for one
-- with rehearsal.stopwatch = on. Costs microseconds, needs nothing.
CREATE FUNCTION rehearsal_waited(p_since timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
    IF current_setting('rehearsal.stopwatch', true) = 'on' THEN
        PERFORM set_config('rehearsal.lane_wait', (
            coalesce(nullif(current_setting('rehearsal.lane_wait', true), ''), '0')::float8
            + extract(epoch FROM clock_timestamp() - p_since)::float8)::text, true);
    END IF;
END
$$
