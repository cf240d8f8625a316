-- From which message on a model reads a conversation; null: its last few exchanges, as its person chose.
ALTER TABLE sessions ADD COLUMN read_from bigint;
-- What the older messages of a conversation were condensed into, and which those are: it counts only
-- while all of them are shown.
CREATE TABLE session_summaries (
  session_id bigint PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  text text NOT NULL,
  covered bigint[] NOT NULL,
  edited boolean NOT NULL DEFAULT false,
  made_at timestamptz NOT NULL DEFAULT now()
);
-- Tokens of a reply's prompt that its service read from a cache.
ALTER TABLE history ADD COLUMN cached_tokens integer NOT NULL DEFAULT 0;
