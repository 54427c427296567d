-- The one row, so that taking the lead is always an UPDATE.
INSERT INTO shardpilot.leader (singleton) VALUES (true)
