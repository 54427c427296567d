-- The schema that holds lanes and ready jobs, NULL while queue storage is not
-- active. Reads two rows; needs SELECT on storage_transition_state and
-- runtime_storage_backends.
CREATE FUNCTION active_queue_storage_schema() RETURNS text
LANGUAGE sql STABLE
SET search_path FROM CURRENT
AS $$
    SELECT CASE WHEN active_storage_engine() = 'queue_storage' THEN coalesce(
        (SELECT nullif(t.details ->> 'schema', '') FROM storage_transition_state AS t WHERE t.singleton),
        (SELECT b.schema_name FROM runtime_storage_backends AS b WHERE b.backend = 'queue_storage'),
        'awa') END
$$
