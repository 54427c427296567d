-- Has the server end our session, and with it the lock, when it has not heard
-- of us for so many milliseconds: a leader behind a dead network would keep the
-- lock until TCP gives up, which can take hours. PostgreSQL 14 or newer; no
-- privilege needed.
SELECT set_config('idle_session_timeout', $1::text, false)
