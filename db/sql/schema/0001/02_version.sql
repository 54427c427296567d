-- Which migrations ran.
CREATE TABLE shardpilot.version (
  version      int4 PRIMARY KEY CHECK (version > 0),
  installed_at timestamptz NOT NULL DEFAULT now(),
  installed_by text NOT NULL DEFAULT current_user
)
