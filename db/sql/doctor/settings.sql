-- The timeouts that hold for this session, in milliseconds (0 = none), and
-- which backend answers. Constant cost; no privilege needed.
SELECT pg_backend_pid()::int4,
       (SELECT setting::int8 FROM pg_settings WHERE name = 'statement_timeout'),
       (SELECT setting::int8 FROM pg_settings WHERE name = 'lock_timeout'),
       (SELECT setting::int8 FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout')
