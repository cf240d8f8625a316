-- Who did something that changes anything, when and from where: kept for the months that are set, then
-- gone by itself. No words of anybody stand here, only what they were done to.
CREATE TABLE records (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  user_id bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('sign_in', 'publish', 'generate', 'act')),
  call text NOT NULL,
  -- What it was done to, by its number or address here; empty: nothing that has one.
  subject text NOT NULL,
  ip text NOT NULL,
  -- Null: a proxy in front does not tell it.
  port integer
);
CREATE INDEX records_of_person ON records (user_id, at);
CREATE INDEX records_by_time ON records USING brin (at);

-- A manager who may look at everything that managers see and change nothing.
ALTER TABLE users ADD COLUMN auditor boolean NOT NULL DEFAULT false;
