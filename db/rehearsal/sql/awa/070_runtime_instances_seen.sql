-- Newest heartbeats first. Needs ownership of runtime_instances.
CREATE INDEX idx_rehearsal_runtime_instances_seen ON runtime_instances (last_seen_at DESC)
