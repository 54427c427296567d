-- The priorities a queue uses. Reads a few rows by key; needs SELECT on queue_lanes.
SELECT priority FROM queue_lanes WHERE queue = $1 ORDER BY priority
