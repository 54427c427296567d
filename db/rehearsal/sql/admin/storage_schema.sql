-- The active storage schema, NULL when there is none. Reads two rows.
SELECT awa.active_queue_storage_schema()
