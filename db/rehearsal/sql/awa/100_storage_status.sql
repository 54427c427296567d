-- The transition row with the engine it resolves to. Reads one row; needs
-- SELECT on storage_transition_state.
CREATE FUNCTION storage_status() RETURNS TABLE (
    current_engine   text,
    active_engine    text,
    prepared_engine  text,
    state            text,
    transition_epoch bigint,
    details          jsonb,
    entered_at       timestamptz,
    updated_at       timestamptz,
    finalized_at     timestamptz
)
LANGUAGE sql STABLE
SET search_path FROM CURRENT
AS $$
    SELECT t.current_engine, active_storage_engine(), t.prepared_engine, t.state,
           t.transition_epoch, t.details, t.entered_at, t.updated_at, t.finalized_at
      FROM storage_transition_state AS t
     WHERE t.singleton
$$
