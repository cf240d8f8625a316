-- Whether a summary was made without a press, and the tokens that it took.
ALTER TABLE session_summaries
  ADD COLUMN auto boolean NOT NULL DEFAULT false,
  ADD COLUMN tokens bigint NOT NULL DEFAULT 0;
