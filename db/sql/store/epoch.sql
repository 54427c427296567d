-- Keeps the leadership as it is until this transaction ends, and says which it
-- is. One row. Needs SELECT and UPDATE on leader.
SELECT epoch, holder, host, pid FROM shardpilot.leader WHERE singleton FOR SHARE
