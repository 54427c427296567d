-- The server's clock, not the start of a transaction. Constant cost; no
-- privilege needed.
SELECT clock_timestamp()
