-- Writes down who leads from now on, under a new epoch, on condition that the
-- backend is the one that has the lock ($4). One row. Needs SELECT and UPDATE
-- on leader.
UPDATE shardpilot.leader
   SET epoch = epoch + 1, holder = $1::text, host = $2::text, pid = $3::int4, backend_pid = pg_backend_pid(),
       since = clock_timestamp(), renewed_at = clock_timestamp()
 WHERE singleton AND pg_backend_pid() = $4::int4
RETURNING epoch
