-- Files of programs, and chats that are asked in bulk from them, at half the price, when it is quiet.
CREATE TABLE api_files (
  id text PRIMARY KEY,
  key_id bigint NOT NULL REFERENCES api_keys,
  user_id bigint NOT NULL REFERENCES users,
  name text NOT NULL,
  purpose text NOT NULL,
  content text NOT NULL,
  bytes integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_files_of_key ON api_files (key_id, created_at);
CREATE INDEX api_files_of_user ON api_files (user_id);
CREATE TABLE api_batches (
  id text PRIMARY KEY,
  key_id bigint NOT NULL REFERENCES api_keys,
  user_id bigint NOT NULL REFERENCES users,
  input_file_id text NOT NULL,
  status text NOT NULL,
  metadata jsonb NOT NULL,
  total integer NOT NULL,
  -- Those of lines that have ended; the lines themselves go when the whole has.
  done integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  output_file_id text,
  error_file_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  cancelled_at timestamptz,
  ended_at timestamptz
);
CREATE INDEX api_batches_of_key ON api_batches (key_id, created_at);
CREATE INDEX api_batches_of_user ON api_batches (user_id);
CREATE TABLE api_batch_lines (
  batch_id text NOT NULL REFERENCES api_batches ON DELETE CASCADE,
  line integer NOT NULL,
  custom_id text NOT NULL,
  body jsonb NOT NULL,
  -- waiting, running, done, failed
  state text NOT NULL DEFAULT 'waiting',
  -- The process that works on it, and its number for this one try.
  instance_id integer,
  claim uuid,
  tries integer NOT NULL DEFAULT 0,
  not_before timestamptz NOT NULL DEFAULT now(),
  -- What it was answered, or why it was not.
  answer jsonb,
  PRIMARY KEY (batch_id, line)
);
CREATE INDEX api_batch_lines_open ON api_batch_lines (not_before) WHERE state IN ('waiting', 'running');
