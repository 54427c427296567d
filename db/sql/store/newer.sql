-- Entries newer than $1, oldest first; from the start ($1 = 0) those of the last
-- seven days, and all that is kept of what may hold a queue for longer: being held
-- as oscillating ends by hand only, a lock may last for a month. Cost: the
-- entries; at the start a pass over the log. Needs SELECT on decision.
SELECT id, at, kind, queue, coalesce(mode, ''), coalesce(action, ''), from_shards, to_shards, reason, detail,
       actor, host, why, coalesce(verb, ''), coalesce(outcome, ''), coalesce(verdict, ''), gain, predicted_gain,
       until, pending, blockers::text, evidence::text, before::text, role, forced
  FROM shardpilot.decision
 WHERE id > $1::int8 AND ($1::int8 > 0 OR at > now() - interval '7 days' OR kind IN ('change', 'adopted', 'verdict', 'act'))
 ORDER BY id
