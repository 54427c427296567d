-- Proposes a step in the place of any earlier one of the queue. Needs INSERT
-- and UPDATE on pending.
INSERT INTO shardpilot.pending (queue, from_shards, to_shards, generation, created_at, expires_at, reason, detail,
       evidence, predicted_gain)
VALUES ($1::text, $2::int4, $3::int4, $4::int8, $5::timestamptz, $6::timestamptz, $7::text, $8::text, $9::jsonb, $10::float8)
ON CONFLICT (queue) DO UPDATE
   SET from_shards = EXCLUDED.from_shards, to_shards = EXCLUDED.to_shards, generation = EXCLUDED.generation,
       created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at, reason = EXCLUDED.reason,
       detail = EXCLUDED.detail, evidence = EXCLUDED.evidence, predicted_gain = EXCLUDED.predicted_gain
