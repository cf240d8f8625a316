-- Whether a model calls tools, where a trial learned it; null: as its name says.
ALTER TABLE models ADD COLUMN tools boolean;
