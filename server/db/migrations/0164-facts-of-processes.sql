-- What a process sees of the disk with its data folder, so that every other can tell it. Bytes.
ALTER TABLE instances ADD COLUMN disk_free bigint, ADD COLUMN disk_total bigint;

-- Backups that were made, wherever their files are.
CREATE TABLE backups (
  name text PRIMARY KEY,
  bytes bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
