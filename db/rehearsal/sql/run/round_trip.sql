-- The smallest statement there is, to time a round trip with.
SELECT 1
