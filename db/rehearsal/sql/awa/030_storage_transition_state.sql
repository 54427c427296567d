-- The single row that says which engine stores jobs. Needs CREATE on awa.
CREATE TABLE storage_transition_state (
    singleton        boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (singleton),
    current_engine   text        NOT NULL CHECK (btrim(current_engine) <> ''),
    prepared_engine  text,
    state            text        NOT NULL
        CHECK (state IN ('canonical', 'prepared', 'mixed_transition', 'active')),
    transition_epoch bigint      NOT NULL DEFAULT 0,
    details          jsonb       NOT NULL DEFAULT '{}',
    entered_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    finalized_at     timestamptz,
    CHECK (prepared_engine IS NOT NULL OR state IN ('canonical', 'active'))
)
