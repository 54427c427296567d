-- The timeouts that hold for this session, in milliseconds (0 = none), and
-- whether sessions like ours say what they do. Constant cost; no privilege
-- needed.
SELECT (SELECT setting::int8 FROM pg_settings WHERE name = 'statement_timeout'),
       (SELECT setting::int8 FROM pg_settings WHERE name = 'lock_timeout'),
       (SELECT setting::int8 FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'),
       current_setting('track_activities') = 'on'
