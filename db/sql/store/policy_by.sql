-- Who wrote the policy of a queue last, and when. One row. Needs SELECT on
-- policy.
SELECT updated_by, updated_at FROM shardpilot.policy WHERE queue = $1::text
