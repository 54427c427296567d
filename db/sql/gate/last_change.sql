-- Who brought a queue ($1) to the count it had last, as far as our log knows.
-- Walks one queue's log from the new end. Needs SELECT on decision.
SELECT to_shards, actor, at
  FROM shardpilot.decision
 WHERE queue = $1::text AND (kind = 'adopted' OR kind = 'change' AND outcome = 'applied')
 ORDER BY id DESC
 LIMIT 1
