-- The shard an ordering key goes to: a 64-bit multiply-and-add hash over its
-- bytes, modulo the count. Producers in every language agree on it, so it must
-- not change. Costs a numeric multiplication a byte.
CREATE FUNCTION rehearsal_ordering_key_shard(p_key bytea, p_shards integer) RETURNS smallint
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path FROM CURRENT
AS $$
DECLARE
    h numeric := 14695981039346656037;
BEGIN
    FOR i IN 1 .. octet_length(p_key) LOOP
        h := (h * 1099511628211 + get_byte(p_key, i - 1)) % 18446744073709551616;
    END LOOP;
    RETURN (h % p_shards)::smallint;
END
$$
