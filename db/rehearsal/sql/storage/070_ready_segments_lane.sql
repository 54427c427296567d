-- Finds the first segment at or after a cursor without reading what lies behind
-- it. Needs ownership of ready_segments.
CREATE INDEX idx_rehearsal_ready_segments_lane
    ON ready_segments (queue, priority, enqueue_shard, next_lane_seq, first_lane_seq)
