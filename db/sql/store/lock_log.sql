-- One writer of the log at a time ($1, $2 = our key), until its transaction
-- ends: a reader that has seen an id has then seen every smaller one. Writes
-- are few and short. Bounded by lock_timeout. No privilege needed.
SELECT pg_advisory_xact_lock($1::int4, $2::int4)
