-- no transaction
-- The next archive of a base is asked for after every file that is learned.
DROP INDEX IF EXISTS training_files_archives;
CREATE INDEX CONCURRENTLY training_files_archives ON training_files (project_id, id)
  WHERE status = 0 AND kind = 'archive';
