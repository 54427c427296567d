-- One row a migration; max(version) is the version of the schema. Needs CREATE on awa.
CREATE TABLE schema_version (
    version     integer     NOT NULL PRIMARY KEY,
    description text        NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
)
