-- Who leads. One row. The lock is what makes somebody leader; epoch, which only
-- grows, is what its writes are checked against; the rest is for people.
CREATE TABLE shardpilot.leader (
  singleton   boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  epoch       bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  holder      text NOT NULL DEFAULT '',
  host        text NOT NULL DEFAULT '',
  pid         int4 NOT NULL DEFAULT 0,
  backend_pid int4 NOT NULL DEFAULT 0,
  since       timestamptz,
  renewed_at  timestamptz
)
