-- What a worker holds by the database's account, after a broken connection.
-- By index; needs SELECT on rehearsal_lease.
SELECT job_id FROM rehearsal_lease WHERE worker = $1 ORDER BY lane_seq
