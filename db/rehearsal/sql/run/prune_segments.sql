-- Removes the segments of a lane that are wholly behind its claim cursor. Needs
-- DELETE on ready_segments.
DELETE FROM ready_segments
 WHERE queue = $1 AND priority = $2 AND enqueue_shard = $3 AND next_lane_seq <= $4
