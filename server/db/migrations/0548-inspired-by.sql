-- The image whose words somebody drew from. It is read like a parent: only where it may be seen.
ALTER TABLE images ADD COLUMN inspired_by bigint;
