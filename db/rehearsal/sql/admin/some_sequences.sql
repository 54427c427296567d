-- Some lane sequences of a schema as a list to drop, NULL when none is left.
-- Catalogue only.
SELECT string_agg(format('%I.%I', $1::text, relname), ', ')
  FROM (SELECT c.relname FROM pg_class AS c
         WHERE c.relnamespace = to_regnamespace(quote_ident($1)) AND c.relkind = 'S'
           AND (c.relname LIKE 'queue\_enqueue\_seq\_%' OR c.relname LIKE 'queue\_claim\_seq\_%')
         LIMIT $2) AS chunk
