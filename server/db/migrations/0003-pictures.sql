-- Works that take long. The row is what people see; the queue (schema graphile_worker) only says
-- which of them a worker should take up.
CREATE TABLE jobs (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  uuid uuid NOT NULL UNIQUE,
  user_id bigint NOT NULL REFERENCES users,
  kind text NOT NULL,
  state text NOT NULL DEFAULT 'queued',
  progress real NOT NULL DEFAULT 0,
  title text NOT NULL DEFAULT '',
  model text NOT NULL,
  engine text NOT NULL DEFAULT '',
  session_id bigint NOT NULL REFERENCES sessions,
  -- Its message may be deleted.
  history_id bigint NOT NULL,
  input jsonb NOT NULL,
  -- What a service calls it, so that whoever takes it over can go on asking.
  remote jsonb,
  error_code integer NOT NULL DEFAULT 0,
  error_message text NOT NULL DEFAULT '',
  hold_id uuid,
  held_tokens bigint NOT NULL DEFAULT 0,
  deduct_tokens bigint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  cancel_requested boolean NOT NULL DEFAULT false,
  -- The server process that works on it; see instances.
  owner integer,
  leased_until timestamptz,
  -- The service that works on it, or that it waits for while all its places are taken.
  channel_id bigint,
  deadline timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz
);
CREATE INDEX jobs_of_person ON jobs (user_id, id DESC);
CREATE INDEX jobs_open ON jobs (id) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_of_message ON jobs (history_id, id DESC);
-- How long the last ones of a model took.
CREATE INDEX jobs_of_model ON jobs (model, id DESC) WHERE state = 'done';

-- The picture as it looks so far; gone when the job ends.
CREATE UNLOGGED TABLE job_previews (
  job_id bigint PRIMARY KEY,
  image text NOT NULL
);

CREATE TABLE images (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  uuid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  user_id bigint NOT NULL REFERENCES users,
  session_id bigint NOT NULL REFERENCES sessions,
  history_id bigint NOT NULL,
  job_id bigint NOT NULL REFERENCES jobs,
  -- Below /files/ and in the storage; empty once it is deleted.
  key text NOT NULL,
  width integer NOT NULL,
  height integer NOT NULL,
  size integer NOT NULL,
  model text NOT NULL,
  prompt text NOT NULL,
  seed bigint,
  parameters jsonb NOT NULL DEFAULT '{}',
  -- What a service calls it: variations and actions start from it.
  remote jsonb,
  liked_count integer NOT NULL DEFAULT 0,
  disliked_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE INDEX images_of_person ON images (user_id, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX images_of_session ON images (session_id, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX images_of_message ON images (history_id);
CREATE UNIQUE INDEX images_key ON images (key) WHERE key <> '';
-- Deleted ones whose files are still there.
CREATE INDEX images_to_remove ON images (deleted_at) WHERE deleted_at IS NOT NULL AND key <> '';

ALTER TABLE models
  -- Of a model of pictures: contract/image.ts `imageModel`, where a manager or its channel said so.
  ADD COLUMN image jsonb;
ALTER TABLE model_channels
  -- Of several channels of the same priority one is drawn by weight.
  ADD COLUMN weight integer NOT NULL DEFAULT 1;

ALTER TABLE channels DROP CONSTRAINT channels_kind_check,
  ADD CONSTRAINT channels_kind_check CHECK (
    kind IN ('built-in', 'openai-compatible', 'stable-diffusion-webui', 'midjourney')
  );
-- Each service of the environment is offered while some process lives that was started with it.
ALTER TABLE instances DROP COLUMN environment, ADD COLUMN services text[] NOT NULL DEFAULT '{}';

-- What somebody put first or does not want to see of the keywords for prompts.
CREATE TABLE keyword_marks (
  user_id bigint NOT NULL REFERENCES users,
  keyword_id integer NOT NULL,
  kind text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, keyword_id, kind)
);
