-- Which schemas of Awa's and shardpilot's name there are, and whether they bear
-- an experiment's mark ($1). Catalogue only.
SELECT coalesce(array_agg(nspname::text ORDER BY nspname), '{}'),
       coalesce(bool_or(nspname = 'shardpilot' AND obj_description(oid, 'pg_namespace') = $1), false)
  FROM pg_namespace
 WHERE nspname IN ('awa', 'shardpilot')
