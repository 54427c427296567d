-- The engine that stores new jobs. Reads one row; needs SELECT on
-- storage_transition_state.
CREATE FUNCTION active_storage_engine() RETURNS text
LANGUAGE sql STABLE
SET search_path FROM CURRENT
AS $$
    SELECT coalesce(max(nullif(btrim(
        CASE WHEN t.state = 'canonical' OR t.state = 'prepared' THEN t.current_engine
             ELSE coalesce(t.prepared_engine, t.current_engine) END), '')), 'canonical')
      FROM storage_transition_state AS t
     WHERE t.singleton
$$
