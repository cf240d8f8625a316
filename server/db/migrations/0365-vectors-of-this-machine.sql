-- A model of this machine embeds for nothing, so bases that were read before it came are read again.
-- The model by which all passages of a base have their vectors; empty: some have none, or another's.
ALTER TABLE training_projects ADD COLUMN vectors text NOT NULL DEFAULT '';
-- Not before this is it tried (again); empty: at once.
ALTER TABLE training_projects ADD COLUMN read_again_after timestamptz;
-- Rises where the vector alone changed: the passage itself is then as it was.
ALTER TABLE knowledge_chunks ADD COLUMN vector_version bigint NOT NULL DEFAULT 0;
