-- The process that does in its memory alone what tokens are held for: when it is gone nobody goes on
-- with the work, and they go back at once. Null: a reply or a job, which others take up or end.
ALTER TABLE holds ADD COLUMN owner bigint;
