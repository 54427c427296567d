-- Says which engine stores jobs. Needs INSERT on awa.storage_transition_state.
INSERT INTO awa.storage_transition_state (current_engine, prepared_engine, state, details, finalized_at)
VALUES ($1, $2, $3, $4, CASE WHEN $3 = 'active' THEN now() END)
