-- Jobs as Awa shows them: ready, claimed and completed ones that are not pruned
-- yet. For eyes and for the row type; reads whole tables.
CREATE VIEW jobs AS
WITH known AS (
    SELECT e.*, d.completed_at, coalesce(d.claimed_at, l.claimed_at) AS claimed_at,
           CASE WHEN d.job_id IS NOT NULL THEN 'completed'
                WHEN l.job_id IS NOT NULL THEN 'running'
                ELSE 'available' END::job_state AS state
      FROM ready_entries AS e
      LEFT JOIN rehearsal_lease AS l USING (job_id)
      LEFT JOIN rehearsal_done AS d USING (job_id))
SELECT job_id                                            AS id,
       kind, queue, args, state, priority,
       (state <> 'available')::int::smallint             AS attempt,
       max_attempts, run_at,
       NULL::timestamptz                                 AS heartbeat_at,
       NULL::timestamptz                                 AS deadline_at,
       claimed_at                                        AS attempted_at,
       completed_at                                      AS finalized_at,
       created_at,
       ARRAY[]::jsonb[]                                  AS errors,
       payload -> 'metadata'                             AS metadata,
       ARRAY(SELECT jsonb_array_elements_text(payload -> 'tags')) AS tags,
       unique_key,
       unique_states::bit(8)                             AS unique_states,
       NULL::uuid                                        AS callback_id,
       NULL::timestamptz                                 AS callback_timeout_at,
       NULL::text                                        AS callback_filter,
       NULL::text                                        AS callback_on_complete,
       NULL::text                                        AS callback_on_fail,
       NULL::text                                        AS callback_transform,
       run_lease,
       NULL::jsonb                                       AS progress
  FROM known
