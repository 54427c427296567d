-- Takes a fresh Awa's queue storage into use; whether it did, and the version
-- of Awa's schema. Needs Awa's own rights.
SELECT awa.storage_auto_finalize_if_fresh('awa'), (SELECT max(version)::int FROM awa.schema_version)
