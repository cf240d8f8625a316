-- Readings that others had made in a session give way before those of its owner.
ALTER TABLE speeches ADD COLUMN own boolean NOT NULL DEFAULT true;
