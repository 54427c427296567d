-- Enqueues one job as a SQL producer does and reads what the stop-watch says:
-- seconds waited for the lane, NULL where the schema has none.
SELECT nullif(current_setting('rehearsal.lane_wait', true), '')::float8
  FROM awa.insert_job_compat(
       p_kind => 'rehearsal', p_queue => $1, p_args => $2, p_priority => $3, p_ordering_key => $4)
