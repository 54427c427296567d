-- Ends acting as another role: back to the one that the session began with,
-- which is another than its user where ALTER ROLE or the connection says so.
RESET ROLE
