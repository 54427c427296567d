-- Uses a pending step up: the row goes, and who gets it has the one use. Needs
-- SELECT and DELETE on pending.
DELETE FROM shardpilot.pending WHERE queue = $1::text AND generation = $2::int8
