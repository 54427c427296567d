-- Registers a lane that this producer has not used yet.
SELECT rehearsal_ensure_lane($1, $2, $3)
