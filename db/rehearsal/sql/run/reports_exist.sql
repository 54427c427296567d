-- Whether producers may report the count they work with.
SELECT to_regclass('shardpilot.producer') IS NOT NULL
