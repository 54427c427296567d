-- Takes our name off, so that nobody is shown as leading until somebody does.
-- The epoch stays. One row. Needs SELECT and UPDATE on leader.
UPDATE shardpilot.leader SET holder = '', host = '', pid = 0, backend_pid = 0
 WHERE singleton AND epoch = $1::int8
