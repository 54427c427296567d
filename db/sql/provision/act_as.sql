-- Acts as a role ($1) until the transaction ends or another takes its place.
-- Needs membership with SET.
SELECT set_config('role', $1::text, true)
