-- Prepares a session: the storage schema first on its path, notifications and
-- the server-side stop-watch as asked.
SELECT set_config('search_path', quote_ident($1) || ', awa, pg_catalog', false),
       set_config('rehearsal.notify', $2, false),
       set_config('rehearsal.stopwatch', 'on', false)
