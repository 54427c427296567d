-- Keeps the leadership as it is until this transaction ends, and says which it
-- is. One row. Needs SELECT and UPDATE on leader.
SELECT epoch, holder || CASE WHEN host = '' THEN '' ELSE '@' || host END
  FROM shardpilot.leader WHERE singleton FOR SHARE
