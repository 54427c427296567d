-- Says where queue storage lives. Needs INSERT on awa.runtime_storage_backends.
INSERT INTO awa.runtime_storage_backends (backend, schema_name) VALUES ('queue_storage', $1)
