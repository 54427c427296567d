-- Who leads as written down, and whether that backend has the lock ($1, $2 =
-- our key). Reads pg_locks: for a question by a person, not for each tick.
-- Needs SELECT on leader.
SELECT l.epoch, l.holder, l.host, l.pid, l.backend_pid, l.since, l.renewed_at,
       EXISTS (SELECT FROM pg_locks k
                WHERE k.locktype = 'advisory' AND k.granted AND k.objsubid = 2
                  AND k.classid = $1::int8::oid AND k.objid = $2::int8::oid AND k.pid = l.backend_pid
                  AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
  FROM shardpilot.leader l WHERE l.singleton
