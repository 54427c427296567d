-- The lane locks at or above a shard ($3) of a queue ($2), held and awaited:
-- every one is a producer that has not committed. $1 = schema. Reads pg_locks,
-- which costs in proportion to all locks of the server. Needs SELECT on the
-- enqueue heads.
SELECT count(*) FILTER (WHERE k.granted)::int4, count(*) FILTER (WHERE NOT k.granted)::int4
  FROM pg_locks k
 WHERE k.locktype = 'advisory' AND k.objsubid = 1
   AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND (k.classid::int8 << 32 | k.objid::int8) IN (
         SELECT hashtextextended(format('%I.%I', $1::text, h.seq_name), 0)
           FROM @schema@.queue_enqueue_heads h
          WHERE h.queue = $2::text AND h.enqueue_shard >= $3::int4 AND h.seq_name IS NOT NULL)
