-- The key under which Awa makes a lane ($1 schema, $2 queue, $3 priority, $4
-- shard), until the transaction ends. Bounded by lock_timeout. No privilege
-- needed.
SELECT pg_advisory_xact_lock(hashtextextended(format('%s:%s:%s:%s', $1::text, $2::text, $3::int2, $4::int2), 0))
