-- Sets the timeouts (milliseconds) of this transaction alone, which holds
-- behind any pooler. No privilege needed; no table is read.
SELECT set_config('statement_timeout', $1::text, true),
       set_config('lock_timeout', $2::text, true),
       set_config('idle_in_transaction_session_timeout', $3::text, true)
