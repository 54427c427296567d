-- Reclaims what pruning left behind. Costs a pass over a few thousand rows; needs
-- ownership of the tables.
VACUUM (SKIP_LOCKED) ready_entries, ready_segments, rehearsal_lease, rehearsal_done, queue_claim_heads, queue_lanes
