-- The server's clock. No privilege needed.
SELECT clock_timestamp()
