-- The same without waiting: whether no other change is being written. No
-- privilege needed.
SELECT pg_try_advisory_xact_lock($1::int4, $2::int4)
