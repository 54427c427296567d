-- The log for people, newest first: of one queue ($1, '' = all), of some kinds
-- ($2, empty = all), older than an id ($3, 0 = all), not before
-- ($4) and before ($6) a time, or that many seconds ago by the server's clock
-- ($5, $7, 0 = all), by an actor or a name before its @ ($8, '' = all), at most
-- $9. Cost: the entries shown, and those skipped. Needs SELECT on decision.
SELECT id, at, kind, queue, coalesce(mode, ''), coalesce(action, ''), from_shards, to_shards, reason, detail,
       actor, host, why, coalesce(verb, ''), coalesce(outcome, ''), coalesce(verdict, ''), gain, predicted_gain,
       until, pending, blockers::text, evidence::text, before::text, role, forced
  FROM shardpilot.decision
 WHERE ($1::text = '' OR queue = $1::text)
   AND (cardinality($2::text[]) = 0 OR kind = ANY ($2::text[]))
   AND ($3::int8 = 0 OR id < $3::int8)
   AND ($4::timestamptz IS NULL OR at >= $4::timestamptz)
   AND ($5::float8 = 0 OR at >= clock_timestamp() - make_interval(secs => $5::float8))
   AND ($6::timestamptz IS NULL OR at < $6::timestamptz)
   AND ($7::float8 = 0 OR at < clock_timestamp() - make_interval(secs => $7::float8))
   AND ($8::text = '' OR actor = $8::text OR split_part(actor, '@', 1) = $8::text)
 ORDER BY id DESC
 LIMIT $9::int4
