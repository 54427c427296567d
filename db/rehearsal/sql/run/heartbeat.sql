-- One worker process tells that it lives. Needs INSERT and UPDATE on
-- awa.runtime_instances.
INSERT INTO awa.runtime_instances (
    instance_id, hostname, pid, version, binary_version, started_at, last_seen_at, snapshot_interval_ms,
    healthy, postgres_connected, poll_loop_alive, heartbeat_alive, maintenance_alive, shutting_down,
    leader, global_max_workers, queues, storage_capability, transition_role)
VALUES ($1, $2, $3, $4, $4, $5, now(), $6, NOT $7, true, NOT $7, true, $8, $7, $8, $9, $10, 'queue_storage', 'auto')
ON CONFLICT (instance_id) DO UPDATE SET
    last_seen_at = excluded.last_seen_at, healthy = excluded.healthy, poll_loop_alive = excluded.poll_loop_alive,
    maintenance_alive = excluded.maintenance_alive, shutting_down = excluded.shutting_down,
    leader = excluded.leader, queues = excluded.queues
