-- The backend that answers. Constant cost; no privilege needed.
SELECT pg_backend_pid()::int4
