-- Projects of training: knowledge bases (0), styles of pictures (1), translations (2, packed 3).
CREATE TABLE training_projects (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users(id),
  key text NOT NULL,
  name text NOT NULL,
  type smallint NOT NULL,
  private boolean NOT NULL DEFAULT true,
  description text NOT NULL DEFAULT '',
  settings jsonb NOT NULL DEFAULT '{}',
  -- 0 in training or not trained, 1 trained, 2 failed, 3 packed.
  status smallint NOT NULL DEFAULT 0,
  token bigint NOT NULL DEFAULT 0,
  -- Grows with every change of its passages: an index in memory is read anew by it.
  revision integer NOT NULL DEFAULT 0,
  engine text NOT NULL DEFAULT '',
  -- Of a style: its statistics, and where the trained file lies.
  profile jsonb,
  artifact_key text,
  artifact_name text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX training_projects_key ON training_projects (lower(key));
CREATE INDEX training_projects_of ON training_projects (user_id, id DESC);
CREATE INDEX training_projects_open ON training_projects (type, id DESC) WHERE NOT private;

CREATE TABLE training_files (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id bigint NOT NULL REFERENCES training_projects(id) ON DELETE CASCADE,
  -- The archive that it came out of.
  parent_id bigint REFERENCES training_files(id) ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL,
  storage_key text,
  size bigint NOT NULL DEFAULT 0,
  hash text NOT NULL DEFAULT '',
  -- 0 in progress, 1 success, 2 failed, 3 decompressed.
  status smallint NOT NULL DEFAULT 0,
  token bigint NOT NULL DEFAULT 0,
  -- Passages or sentences of it, and how many are done.
  total_num integer NOT NULL DEFAULT 0,
  over_num integer NOT NULL DEFAULT 0,
  error text NOT NULL DEFAULT '',
  -- Set aside for work on it that has not ended.
  hold_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX training_files_of ON training_files (project_id, id DESC);
CREATE INDEX training_files_open ON training_files (project_id, id) WHERE status = 0;
CREATE INDEX training_files_parent ON training_files (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE training_logs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  file_id bigint NOT NULL REFERENCES training_files(id) ON DELETE CASCADE,
  content text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX training_logs_of ON training_logs (file_id, id);

-- Passages of knowledge bases.
CREATE TABLE knowledge_chunks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id bigint NOT NULL REFERENCES training_projects(id) ON DELETE CASCADE,
  file_id bigint NOT NULL REFERENCES training_files(id) ON DELETE CASCADE,
  seq integer NOT NULL,
  -- 0: the file has no pages.
  page integer NOT NULL,
  heading text NOT NULL,
  content text NOT NULL,
  -- Numbers of 32 bits, of the model `model`; empty model: the built-in one, one byte a number.
  vector bytea NOT NULL,
  model text NOT NULL
);
CREATE INDEX knowledge_chunks_of ON knowledge_chunks (project_id, id);
CREATE INDEX knowledge_chunks_file ON knowledge_chunks (file_id, seq);

-- Sentences of translations.
CREATE TABLE training_segments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  file_id bigint NOT NULL REFERENCES training_files(id) ON DELETE CASCADE,
  seq integer NOT NULL,
  source text NOT NULL,
  target text NOT NULL DEFAULT '',
  -- 0 to do, 1 translated, 2 corrected by hand, 3 kept as it is.
  state smallint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX training_segments_of ON training_segments (file_id, seq);

-- Files on their way in, piece by piece.
CREATE TABLE training_uploads (
  id uuid PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users(id),
  name text NOT NULL,
  size bigint NOT NULL,
  data bytea NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX training_uploads_of ON training_uploads (user_id);
