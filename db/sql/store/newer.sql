-- Entries newer than $1, oldest first; from the start ($1 = 0) those of the last
-- seven days. Cost: the entries. Needs SELECT on decision.
SELECT id, at, kind, queue, coalesce(mode, ''), coalesce(action, ''), from_shards, to_shards, reason, detail,
       actor, host, why, coalesce(verb, ''), coalesce(outcome, ''), coalesce(verdict, ''), gain, predicted_gain,
       until, pending, blockers::text, evidence::text, before::text, role, forced
  FROM shardpilot.decision
 WHERE id > $1::int8 AND ($1::int8 > 0 OR at > now() - interval '7 days')
 ORDER BY id
