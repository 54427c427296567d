-- Which schema a storage engine lives in. Needs CREATE on awa.
CREATE TABLE runtime_storage_backends (
    backend     text        NOT NULL PRIMARY KEY,
    schema_name text        NOT NULL,
    updated_at  timestamptz NOT NULL DEFAULT now()
)
