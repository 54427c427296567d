-- Everything of shardpilot's is in here, so that one DROP removes it. Needs
-- CREATE on the database.
CREATE SCHEMA shardpilot
