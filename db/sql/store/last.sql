-- The newest entry of the log: asked each tick, one index look-up. Needs SELECT
-- on decision.
SELECT coalesce(max(id), 0) FROM shardpilot.decision
