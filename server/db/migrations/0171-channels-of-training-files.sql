-- The channel that is sent a file's passages, so that what was sent of a stopped one is its spend.
ALTER TABLE training_files ADD COLUMN channel_id bigint;
