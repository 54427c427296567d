-- Claims jobs for a worker.
SELECT rehearsal_claim($1, $2, $3)
