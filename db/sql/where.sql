-- Where we are. Constant cost; no privilege needed.
SELECT current_database()::text,
       current_user::text,
       current_setting('server_version'),
       current_setting('server_version_num')::int4,
       pg_is_in_recovery(),
       current_setting('transaction_read_only') = 'on',
       pg_postmaster_start_time()
