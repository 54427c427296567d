-- A sign of life, on condition that the lead ($1 = epoch) and the backend ($2,
-- whose session has the lock) are what they were. One row. Needs SELECT and
-- UPDATE on leader.
UPDATE shardpilot.leader SET renewed_at = clock_timestamp()
 WHERE singleton AND epoch = $1::int8 AND pg_backend_pid() = $2::int4
