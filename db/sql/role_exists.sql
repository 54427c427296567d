-- Whether the server has a role. Cost: one index probe. Rights: none.
SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1::name)
