-- Registers a priority of a queue. Needs INSERT and SELECT on queue_lanes.
INSERT INTO queue_lanes (queue, priority) VALUES ($1, $2) ON CONFLICT DO NOTHING
