-- A file of a program lies in pieces, so that nobody who reads one slowly has all of it in memory.
CREATE TABLE api_file_parts (
  file_id text NOT NULL REFERENCES api_files ON DELETE CASCADE,
  part integer NOT NULL,
  content text NOT NULL,
  PRIMARY KEY (file_id, part)
);
INSERT INTO api_file_parts (file_id, part, content) SELECT id, 0, content FROM api_files;
ALTER TABLE api_files DROP COLUMN content;
-- What is kept as it was written may hold what jsonb does not: NUL, half of a character.
ALTER TABLE api_batch_lines ALTER COLUMN body TYPE json, ALTER COLUMN answer TYPE json;
-- Bytes of its lines, and of what they were answered so far.
ALTER TABLE api_batches ADD COLUMN bytes bigint NOT NULL DEFAULT 0,
  ADD COLUMN answered bigint NOT NULL DEFAULT 0;
CREATE INDEX api_batches_open ON api_batches (created_at) WHERE ended_at IS NULL;
-- The next lines of a batch, however many it has.
DROP INDEX api_batch_lines_open;
CREATE INDEX api_batch_lines_waiting ON api_batch_lines (batch_id, not_before, line)
  WHERE state = 'waiting';
CREATE INDEX api_batch_lines_running ON api_batch_lines (batch_id) WHERE state = 'running';
