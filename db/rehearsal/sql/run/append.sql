-- Writes jobs at reserved lane numbers, as one segment.
SELECT rehearsal_append($1, $2, $3, $4, $5, 'rehearsal', $6, 25::smallint, clock_timestamp(), NULL, NULL, NULL)
