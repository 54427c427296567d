-- Who leads as written down. One row; asked by followers. Needs SELECT on
-- leader.
SELECT epoch, holder, host, pid FROM shardpilot.leader WHERE singleton
