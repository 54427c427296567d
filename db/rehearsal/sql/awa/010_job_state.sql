-- The states of a job, in Awa's order. Catalogue only; needs CREATE on awa.
CREATE TYPE job_state AS ENUM (
    'scheduled', 'available', 'running', 'completed',
    'retryable', 'failed', 'cancelled', 'waiting_external'
)
