-- Whether one entry is in the log: queue, time to the microsecond, actor, and
-- its id unless $4 is 0. Walks one queue's log from the new end. Needs SELECT on
-- decision.
SELECT EXISTS (SELECT FROM shardpilot.decision
                WHERE queue = $1::text AND kind = 'change' AND at = $2::timestamptz AND actor = $3::text
                  AND ($4::int8 = 0 OR id = $4::int8))
