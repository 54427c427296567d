-- Takes the lead's lock for the life of the session if it is free ($1, $2 = our
-- key). No privilege needed.
SELECT pg_try_advisory_lock($1::int4, $2::int4), pg_backend_pid()::int4
