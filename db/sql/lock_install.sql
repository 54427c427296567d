-- One installer at a time ($1, $2 = our key), until the transaction ends.
-- Bounded by lock_timeout. No privilege needed.
SELECT pg_advisory_xact_lock($1::int4, $2::int4)
