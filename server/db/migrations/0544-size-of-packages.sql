-- What a project was packed into counts as its owner's, as the files do that came in.
ALTER TABLE training_projects ADD COLUMN artifact_size bigint NOT NULL DEFAULT 0;
