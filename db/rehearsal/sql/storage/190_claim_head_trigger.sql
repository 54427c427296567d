-- Needs ownership of queue_claim_heads.
CREATE TRIGGER queue_claim_heads_sequence_sync
    BEFORE INSERT OR UPDATE OF claim_seq ON queue_claim_heads
    FOR EACH ROW EXECUTE FUNCTION queue_claim_head_sequence_sync()
