-- The log of one queue, newest first.
CREATE INDEX decision_queue_id ON shardpilot.decision (queue, id DESC)
