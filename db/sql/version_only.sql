-- The version of an Awa that has no storage states yet. One tiny table. Needs
-- USAGE on awa and SELECT on schema_version.
SELECT coalesce(max(version), 0)::int4 FROM awa.schema_version
