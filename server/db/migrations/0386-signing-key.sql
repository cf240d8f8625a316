-- The private key that signs manifests of C2PA, sealed. Null: there is none.
ALTER TABLE compliance ADD COLUMN signing_key bytea;
