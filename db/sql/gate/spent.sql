-- The changes carried out: of one queue ($1) in the last $2 seconds, of the
-- whole database in the last $3. Entries from the future, as a clock that
-- stepped leaves them, count. Cost: the changes of that queue, and the newer end
-- of the log. Needs SELECT on decision.
SELECT (SELECT count(*) FROM shardpilot.decision
         WHERE queue = $1::text AND kind = 'change' AND outcome = 'applied'
           AND at > clock_timestamp() - make_interval(secs => $2::float8))::int4,
       (SELECT count(*) FROM shardpilot.decision
         WHERE kind = 'change' AND outcome = 'applied'
           AND at > clock_timestamp() - make_interval(secs => $3::float8))::int4
