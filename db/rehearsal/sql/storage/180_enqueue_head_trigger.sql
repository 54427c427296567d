-- Needs ownership of queue_enqueue_heads.
CREATE TRIGGER queue_enqueue_heads_sequence_sync
    BEFORE INSERT OR UPDATE OF next_seq ON queue_enqueue_heads
    FOR EACH ROW EXECUTE FUNCTION queue_enqueue_head_sequence_sync()
