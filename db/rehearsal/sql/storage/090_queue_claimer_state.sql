-- Awa's own claimer controller keeps its level here; the rehearsal leaves it
-- empty. Needs CREATE on the schema.
CREATE TABLE queue_claimer_state (
    queue           text        NOT NULL PRIMARY KEY,
    target_claimers smallint    NOT NULL,
    updated_at      timestamptz NOT NULL
)
