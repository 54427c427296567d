-- The priorities in use in each queue. Needs CREATE on the schema.
CREATE TABLE queue_lanes (
    queue                  text     NOT NULL,
    priority               smallint NOT NULL,
    next_seq               bigint   NOT NULL DEFAULT 1,
    claim_seq              bigint   NOT NULL DEFAULT 1,
    pruned_completed_count bigint   NOT NULL DEFAULT 0,
    PRIMARY KEY (queue, priority)
)
