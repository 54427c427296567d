-- What SQL producers call: one job, available at once. The lane follows from the
-- ordering key, or without one from the backend's pid, and from the queue's
-- count as it is now. The lane stays locked until the caller's transaction
-- ends. Needs SELECT on queue_meta and the right to enqueue in the storage
-- schema.
CREATE FUNCTION insert_job_compat(
    p_kind          text,
    p_queue         text        DEFAULT 'default',
    p_args          jsonb       DEFAULT '{}',
    p_state         job_state   DEFAULT 'available',
    p_priority      smallint    DEFAULT 2,
    p_max_attempts  smallint    DEFAULT 25,
    p_run_at        timestamptz DEFAULT NULL,
    p_metadata      jsonb       DEFAULT '{}',
    p_tags          text[]      DEFAULT ARRAY[]::text[],
    p_unique_key    bytea       DEFAULT NULL,
    p_unique_states bit         DEFAULT NULL,
    p_ordering_key  bytea       DEFAULT NULL
) RETURNS jobs
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    v_storage text := active_queue_storage_schema();
    v_shards  integer;
    v_job     jobs;
BEGIN
    v_job.kind          := p_kind;
    v_job.queue         := coalesce(p_queue, 'default');
    v_job.args          := coalesce(p_args, '{}');
    v_job.state         := coalesce(p_state, 'available');
    v_job.priority      := coalesce(p_priority, 2);
    v_job.attempt       := 0;
    v_job.max_attempts  := coalesce(p_max_attempts, 25);
    v_job.run_at        := coalesce(p_run_at, clock_timestamp());
    v_job.created_at    := clock_timestamp();
    v_job.errors        := '{}';
    v_job.metadata      := coalesce(p_metadata, '{}');
    v_job.tags          := coalesce(p_tags, '{}');
    v_job.unique_key    := p_unique_key;
    v_job.unique_states := p_unique_states;
    v_job.run_lease     := 0;

    IF length(v_job.kind) > 200 OR length(v_job.queue) > 200
       OR v_job.priority NOT BETWEEN 1 AND 4 OR v_job.max_attempts NOT BETWEEN 1 AND 1000
       OR cardinality(v_job.tags) > 20 THEN
        RAISE EXCEPTION 'job is outside the limits of kind, queue, priority, attempts or tags'
            USING ERRCODE = 'check_violation';
    END IF;
    IF v_storage IS NULL OR v_job.state <> 'available' THEN
        RAISE EXCEPTION 'a rehearsal stores available jobs in active queue storage only'
            USING ERRCODE = 'feature_not_supported';
    END IF;

    SELECT coalesce(max(m.enqueue_shards), 1) INTO v_shards FROM queue_meta AS m WHERE m.queue = v_job.queue;
    EXECUTE format('SELECT %I.rehearsal_enqueue_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)', v_storage)
       INTO v_job.id
      USING v_job.queue, v_job.priority,
            coalesce(rehearsal_ordering_key_shard(p_ordering_key, v_shards), (pg_backend_pid() % v_shards)::smallint),
            v_job.kind, v_job.args, v_job.max_attempts, v_job.run_at,
            jsonb_build_object('metadata', v_job.metadata, 'tags', v_job.tags,
                               'errors', '[]'::jsonb, 'progress', NULL),
            v_job.unique_key, v_job.unique_states::text;
    RETURN v_job;
END
$$
