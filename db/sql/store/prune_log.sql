-- Removes from the old end of the log, among the oldest $1 entries, those that
-- are older than $2 seconds or too many ($3 = how many may stay), but never the
-- newest. Cost: $1 rows and one walk over the ids of those that may stay. Needs
-- SELECT and DELETE on decision.
DELETE FROM shardpilot.decision
 WHERE id IN (
   SELECT o.id FROM (SELECT id, at FROM shardpilot.decision ORDER BY id LIMIT $1::int4) o
    WHERE (o.at < now() - make_interval(secs => $2::float8)
           OR o.id <= (SELECT id FROM shardpilot.decision ORDER BY id DESC OFFSET $3::int4 LIMIT 1))
      AND o.id < (SELECT max(id) FROM shardpilot.decision))
