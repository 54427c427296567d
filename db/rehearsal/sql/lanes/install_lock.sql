-- The key under which a lane is made, until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(format('%s:%s:%s:%s', $1::text, $2::text, $3::int, $4::int), 0))
