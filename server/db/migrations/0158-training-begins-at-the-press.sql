-- A file that its owner has not begun yet, and what was found in it to say beforehand what it will cost;
-- whether one that failed fails each time.
ALTER TABLE training_files
  ADD COLUMN waiting boolean NOT NULL DEFAULT false,
  ADD COLUMN content jsonb,
  ADD COLUMN hopeless boolean NOT NULL DEFAULT false;
