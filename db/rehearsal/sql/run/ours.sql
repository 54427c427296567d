-- Whether the storage schema is a rehearsal's. Catalogue only.
SELECT to_regprocedure(format('%I.rehearsal_claim(text,text,integer)', $1::text)) IS NOT NULL
