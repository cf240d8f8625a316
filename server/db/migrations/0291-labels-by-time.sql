-- no transaction
-- Labels go after some years.
DROP INDEX IF EXISTS labels_by_time;
CREATE INDEX CONCURRENTLY labels_by_time ON labels (created_at);
