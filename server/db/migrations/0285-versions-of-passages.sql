-- A passage keeps its number when it is changed; what mirrors passages sees the change by its version,
-- drawn from the same row of numbers as the ids. 0: it is as it was made. Of those that are there
-- already nobody knows whether their owner changed them.
ALTER TABLE knowledge_chunks ADD COLUMN version bigint NOT NULL DEFAULT -1;
ALTER TABLE knowledge_chunks ALTER COLUMN version SET DEFAULT 0;
