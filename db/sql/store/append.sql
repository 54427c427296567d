-- One entry of the log; a NULL time is the server's now. The role is filled
-- in by the server. Needs INSERT on decision.
INSERT INTO shardpilot.decision (at, kind, queue, mode, action, from_shards, to_shards, reason, detail,
       actor, host, why, verb, outcome, verdict, gain, predicted_gain, until, pending,
       blockers, evidence, before, epoch, forced)
VALUES (coalesce($1::timestamptz, clock_timestamp()), $2::text, $3::text, nullif($4::text, ''), nullif($5::text, ''),
       $6::int4, $7::int4, $8::text, $9::text, $10::text, $11::text, $12::text, nullif($13::text, ''),
       nullif($14::text, ''), nullif($15::text, ''), $16::float8, $17::float8, $18::timestamptz, $19::int8,
       $20::jsonb, $21::jsonb, $22::jsonb, nullif($23::int8, 0), $24::boolean)
