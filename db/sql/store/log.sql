-- The log for people, newest first: of one queue ($1, '' = all), of some kinds
-- ($2, empty = all), older than an id ($3, 0 = all), younger than some seconds by
-- the server's clock ($4, 0 = all), at most $5. Cost: the entries shown, and those
-- skipped by kind. Needs SELECT on decision.
SELECT id, at, kind, queue, coalesce(mode, ''), coalesce(action, ''), from_shards, to_shards, reason, detail,
       actor, host, why, coalesce(verb, ''), coalesce(outcome, ''), coalesce(verdict, ''), gain, predicted_gain,
       until, pending, blockers::text, evidence::text, before::text
  FROM shardpilot.decision
 WHERE ($1::text = '' OR queue = $1::text)
   AND (cardinality($2::text[]) = 0 OR kind = ANY ($2::text[]))
   AND ($3::int8 = 0 OR id < $3::int8)
   AND ($4::float8 = 0 OR at >= clock_timestamp() - make_interval(secs => $4::float8))
 ORDER BY id DESC
 LIMIT $5::int4
