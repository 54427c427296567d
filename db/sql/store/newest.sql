-- The newest entry of each queue.
-- $1 = queue, '' = all. Cost: a walk over the index by queue and id.
-- Needs SELECT on decision.
SELECT id, at, kind, queue, coalesce(mode, ''), coalesce(action, ''), from_shards, to_shards, reason, detail,
       actor, host, why, coalesce(verb, ''), coalesce(outcome, ''), coalesce(verdict, ''), gain, predicted_gain,
       until, pending, blockers::text, evidence::text, before::text, role, forced
  FROM (SELECT DISTINCT ON (d.queue) d.* FROM shardpilot.decision d
         WHERE $1::text = '' OR d.queue = $1::text
         ORDER BY d.queue, d.id DESC) n
