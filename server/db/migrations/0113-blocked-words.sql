-- Words that nobody may write where everybody reads, without spaces and in lower case.
CREATE TABLE blocked_words (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  word text NOT NULL UNIQUE CHECK (word <> ''),
  created_at timestamptz NOT NULL DEFAULT now()
);
