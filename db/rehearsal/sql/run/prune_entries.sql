-- Removes the ready rows of a lane behind its claim cursor, at most $5: a range
-- of the key, whose plan does not depend on statistics. Needs SELECT and DELETE
-- on ready_entries.
DELETE FROM ready_entries
 WHERE ready_slot = 0 AND queue = $1 AND priority = $2 AND enqueue_shard = $3
   AND lane_seq < least($4, $5 + (
       SELECT min(lane_seq) FROM ready_entries
        WHERE ready_slot = 0 AND queue = $1 AND priority = $2 AND enqueue_shard = $3))
