-- A passage keeps its number when it is changed; what mirrors passages sees the change by its version,
-- drawn from the same row of numbers as the ids. 0: it is as it was made.
ALTER TABLE knowledge_chunks ADD COLUMN version bigint NOT NULL DEFAULT 0;
