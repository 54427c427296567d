-- The name of a lane's sequence: a digest, since queue names may be longer than
-- an identifier and hold anything.
CREATE FUNCTION queue_lane_sequence_name(
    p_prefix text, p_queue text, p_priority smallint, p_enqueue_shard smallint
) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path FROM CURRENT
AS $$
    SELECT p_prefix || '_' || md5(p_queue || ':' || p_priority::text || ':' || p_enqueue_shard::text)
$$
