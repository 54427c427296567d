-- Who leads as written down. One row; asked by followers. Needs SELECT on
-- leader.
SELECT epoch, holder || CASE WHEN host = '' THEN '' ELSE '@' || host END
  FROM shardpilot.leader WHERE singleton
