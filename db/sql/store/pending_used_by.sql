-- Who ended a pending step ($2 = its generation), when and how. Walks one
-- queue's log from the new end. Needs SELECT on decision.
SELECT actor, at, kind, coalesce(verb, ''), coalesce(outcome, '')
  FROM shardpilot.decision
 WHERE queue = $1::text AND pending = $2::int8 AND kind IN ('withdrawn', 'change', 'act')
 ORDER BY id DESC
 LIMIT 1
