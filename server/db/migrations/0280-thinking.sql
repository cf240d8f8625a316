-- How a model is told to think long or little, where a trial learned it; null: as its name says.
ALTER TABLE models ADD COLUMN thinking text
  CHECK (thinking IN ('effort', 'type', 'switch', 'template'));
-- How long an answer's model thought, ms; 0: it did not, or nobody knows.
ALTER TABLE history ADD COLUMN thought_ms integer NOT NULL DEFAULT 0;
