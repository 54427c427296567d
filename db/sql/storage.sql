-- The state of Awa's storage, the schema of its queues and the version. Three
-- tiny tables. Needs USAGE on awa, SELECT on schema_version,
-- storage_transition_state and runtime_storage_backends.
SELECT s.state::text,
       coalesce(awa.active_queue_storage_schema(), '')::text,
       coalesce((SELECT max(v.version) FROM awa.schema_version v), 0)::int4
  FROM awa.storage_status() s
 LIMIT 1
