-- Takes lane numbers and reads what the stop-watch says: seconds waited for the
-- lane, NULL where the schema has none.
SELECT first, nullif(current_setting('rehearsal.lane_wait', true), '')::float8
  FROM reserve_enqueue_seq($1, $2, $3, $4) AS first
