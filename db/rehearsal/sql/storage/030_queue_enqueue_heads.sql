-- One row a lane: where producers take their numbers. The number itself is in
-- the sequence named seq_name; next_seq stays at 1. Needs CREATE on the schema.
CREATE TABLE queue_enqueue_heads (
    queue         text     NOT NULL,
    priority      smallint NOT NULL,
    enqueue_shard smallint NOT NULL DEFAULT 0,
    next_seq      bigint   NOT NULL DEFAULT 1,
    seq_name      text,
    PRIMARY KEY (queue, priority, enqueue_shard)
)
