-- A passage that its owner switched off is kept and found no more.
ALTER TABLE knowledge_chunks ADD COLUMN off boolean NOT NULL DEFAULT false;

-- Files of knowledge bases that are read again from their address, once a day.
CREATE TABLE training_watches (
  file_id bigint PRIMARY KEY REFERENCES training_files(id) ON DELETE CASCADE,
  url text NOT NULL,
  -- What its words were, so that a page whose frame alone changed is not learned anew.
  hash text NOT NULL,
  live boolean NOT NULL DEFAULT true,
  -- One after the other.
  failures integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  read_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz,
  -- What changed last, in words for people.
  changed text NOT NULL DEFAULT '',
  error text NOT NULL DEFAULT ''
);
CREATE INDEX training_watches_due ON training_watches (next_at) WHERE live;

-- What a base was asked and had nothing on. It says nothing of who asked.
CREATE TABLE knowledge_gaps (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id bigint NOT NULL REFERENCES training_projects(id) ON DELETE CASCADE,
  -- The question without what makes no difference, by which equal ones are counted as one.
  mark text NOT NULL,
  question text NOT NULL,
  asked integer NOT NULL DEFAULT 1,
  last_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, mark)
);
