-- Has the server end our session, and with it the lock, when it has not heard
-- of us for so many milliseconds: a leader behind a dead network would keep the
-- lock until TCP gives up, which can take hours. And has a sign of life wait
-- for another's lock for $2 milliseconds at most, less than we wait for its
-- answer. PostgreSQL 14 or newer; no privilege needed.
SELECT set_config('idle_session_timeout', $1::text, false),
       set_config('lock_timeout', $2::text, false)
