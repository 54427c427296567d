-- Transactions of this database that have been open for longer than $1 seconds,
-- prepared ones (pid 0, name in the last column) too. Reads pg_stat_activity
-- once. Needs pg_read_all_stats for other roles' sessions, which are left out
-- without it.
SELECT a.pid::int4, extract(epoch FROM clock_timestamp() - a.xact_start)::float8,
       coalesce(a.state, '')::text, coalesce(a.usename, '')::text, coalesce(a.application_name, '')::text, ''::text
  FROM pg_stat_activity a
 WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
   AND a.xact_start < clock_timestamp() - make_interval(secs => $1::float8)
UNION ALL
SELECT 0, extract(epoch FROM clock_timestamp() - p.prepared)::float8, 'prepared', p.owner::text, '', p.gid
  FROM pg_prepared_xacts p
 WHERE p.database = current_database() AND p.prepared < clock_timestamp() - make_interval(secs => $1::float8)
 ORDER BY 2 DESC
 LIMIT 200
