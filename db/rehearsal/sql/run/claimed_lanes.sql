-- How far each lane is claimed. Reads the claim heads; needs SELECT on them.
SELECT queue, priority, enqueue_shard, ready_segment_next_lane_seq
  FROM queue_claim_heads WHERE ready_segment_next_lane_seq > 1
