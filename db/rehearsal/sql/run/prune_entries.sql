-- Removes the ready rows of a lane behind its claim cursor, at most $5. Needs
-- DELETE on ready_entries.
DELETE FROM ready_entries WHERE ready_slot = 0 AND queue = $1 AND priority = $2 AND enqueue_shard = $3
   AND lane_seq IN (SELECT e.lane_seq FROM ready_entries AS e
                     WHERE e.ready_slot = 0 AND e.queue = $1 AND e.priority = $2 AND e.enqueue_shard = $3
                       AND e.lane_seq < $4 ORDER BY e.lane_seq LIMIT $5)
