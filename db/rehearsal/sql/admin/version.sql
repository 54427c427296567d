-- Says which version of Awa this looks like. Needs INSERT on awa.schema_version.
INSERT INTO awa.schema_version (version, description) VALUES ($1, $2)
