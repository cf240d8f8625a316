-- Backups that lie in an object storage as well, as bucket/key; null: on the machine that made it alone.
ALTER TABLE backups ADD COLUMN elsewhere text;
