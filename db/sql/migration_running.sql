-- Whether anybody holds or awaits Awa's migration lock in this database. Reads
-- pg_locks, which costs in proportion to all locks of the server (0.13 ms idle,
-- 31 ms with 34,000): ask before a write, not each tick. No privilege needed.
SELECT EXISTS (
  SELECT FROM pg_locks
   WHERE locktype = 'advisory' AND classid = 1096237407 AND objid = 1296648018 AND objsubid = 1
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
