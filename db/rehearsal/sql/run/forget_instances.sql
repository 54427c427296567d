-- Forgets worker processes that have been silent for ten minutes. Needs DELETE
-- on awa.runtime_instances.
DELETE FROM awa.runtime_instances WHERE last_seen_at < now() - interval '10 minutes'
