-- Identities of jobs, shared by all queues. Needs CREATE on the schema.
CREATE SEQUENCE job_id_seq AS bigint
