-- Removes the schema with whatever others put into it or built on it; only when
-- an operator said so. Needs ownership.
DROP SCHEMA shardpilot CASCADE
