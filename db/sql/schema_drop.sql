-- Removes the emptied schema. Needs ownership.
DROP SCHEMA shardpilot RESTRICT
