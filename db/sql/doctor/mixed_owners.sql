-- Lanes whose sequences are not owned by the owner of shard 0 of the same queue
-- and priority: producers of the other role get "permission denied for
-- sequence". Cost: the head tables and one catalogue look-up a lane. Needs
-- SELECT on both head tables. $1 = schema.
WITH s AS (
  SELECT h.queue, h.priority, h.enqueue_shard, h.kind, c.relname, pg_get_userbyid(c.relowner)::text AS owner
    FROM (SELECT queue, priority, enqueue_shard, seq_name, 'enqueue' AS kind FROM @schema@.queue_enqueue_heads
          UNION ALL
          SELECT queue, priority, enqueue_shard, seq_name, 'claim' FROM @schema@.queue_claim_heads) h
    JOIN pg_namespace n ON n.nspname = $1::text
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = h.seq_name AND c.relkind = 'S')
SELECT s.queue::text, s.priority::int4, s.enqueue_shard::int4, s.relname::text, s.owner, z.owner AS wanted
  FROM s JOIN s z ON z.queue = s.queue AND z.priority = s.priority AND z.kind = s.kind AND z.enqueue_shard = 0
 WHERE s.owner <> z.owner
 ORDER BY 1, 2, 3, 4
 LIMIT 200
