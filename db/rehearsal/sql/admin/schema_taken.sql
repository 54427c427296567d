-- Whether one of these schemas exists. Catalogue only.
SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = ANY ($1::text[]))
