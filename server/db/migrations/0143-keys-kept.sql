-- A key is kept for its owner, encrypted; null: it was made before, or its owner wants none kept.
ALTER TABLE api_keys ADD COLUMN sealed bytea;
ALTER TABLE users ADD COLUMN api_keys_once boolean NOT NULL DEFAULT false;
