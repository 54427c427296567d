-- One change of a count at a time in this database ($1, $2 = our key), until
-- the transaction ends. Bounded by lock_timeout. No privilege needed.
SELECT pg_advisory_xact_lock($1::int4, $2::int4)
