-- What an answer was given to rest on: numbered passages as they were then; null: nothing.
ALTER TABLE history ADD COLUMN sources jsonb;
-- Further knowledge bases that a session is asked about, behind embedding_key.
ALTER TABLE sessions ADD COLUMN more_embeddings text[] NOT NULL DEFAULT '{}';
