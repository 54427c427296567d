-- Removes our tables and nothing that others built on them (RESTRICT). Needs
-- ownership.
DROP TABLE shardpilot.version, shardpilot.policy, shardpilot.decision, shardpilot.pending,
           shardpilot.leader, shardpilot.producer RESTRICT
