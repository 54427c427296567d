-- Sets the session's timeouts (milliseconds), but only when the backend that
-- answers ($1 is compared) is the one announced at connect: behind a
-- transaction pooler the settings would be somebody else's in a moment.
-- No row back means pooled. No privilege needed; no table is read.
SELECT set_config('statement_timeout', $2::text, false),
       set_config('lock_timeout', $3::text, false),
       set_config('idle_in_transaction_session_timeout', $4::text, false)
 WHERE pg_backend_pid() = $1::int4
