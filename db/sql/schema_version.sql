-- The newest migration that ran. Needs USAGE on shardpilot and SELECT on
-- version.
SELECT coalesce(max(version), 0)::int4 FROM shardpilot.version
