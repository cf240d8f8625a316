-- Calls of tools within an answer, as they are shown; null: there was none.
ALTER TABLE history ADD COLUMN tools jsonb;
-- An answer may wait until its person has answered what a tool asks.
ALTER TABLE history DROP CONSTRAINT history_state_check;
ALTER TABLE history ADD CONSTRAINT history_state_check CHECK
  (state IN ('none', 'streaming', 'waiting', 'done', 'stopped', 'error', 'interrupted'));
-- What an answer with calls of tools goes on from, until it ends.
CREATE TABLE reply_loops (
  history_id bigint PRIMARY KEY REFERENCES history (id) ON DELETE CASCADE,
  loop jsonb NOT NULL
);
-- Tools that its owner lets run in a session without being asked again.
ALTER TABLE sessions ADD COLUMN tool_grants text[] NOT NULL DEFAULT '{}';
