-- Notes that a migration ran. Needs INSERT on version.
INSERT INTO shardpilot.version (version) VALUES ($1::int4)
