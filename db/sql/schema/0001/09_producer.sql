-- The applied-state protocol: any producer may say which count it works with.
CREATE TABLE shardpilot.producer (
  instance_id text NOT NULL CHECK (length(instance_id) BETWEEN 1 AND 200),
  queue       text NOT NULL,
  shards      int4 NOT NULL CHECK (shards BETWEEN 1 AND 64),
  observed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (instance_id, queue)
)
