-- Films that jobs made. What a deleted message or session showed is not served any more, and is
-- cleared away by a chore.
CREATE TABLE videos (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  uuid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  user_id bigint NOT NULL REFERENCES users,
  session_id bigint NOT NULL REFERENCES sessions,
  history_id bigint NOT NULL,
  job_id bigint NOT NULL REFERENCES jobs,
  -- Random; the name below /files/video/ and in the storage.
  key text NOT NULL UNIQUE,
  mime text NOT NULL,
  width integer NOT NULL,
  height integer NOT NULL,
  -- Milliseconds.
  duration integer NOT NULL,
  -- Bytes.
  size integer NOT NULL,
  model text NOT NULL,
  prompt text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX videos_of_person ON videos (user_id, id DESC);
CREATE INDEX videos_of_session ON videos (session_id, id DESC);
CREATE INDEX videos_of_message ON videos (history_id);
CREATE INDEX videos_of_job ON videos (job_id);

-- Replies as they were read aloud, so that the same is made once.
CREATE TABLE speeches (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  session_id bigint NOT NULL REFERENCES sessions,
  history_id bigint NOT NULL,
  model text NOT NULL,
  voice text NOT NULL,
  -- Hundredths.
  speed smallint NOT NULL,
  -- SHA-256 of the words: nobody hears other words than those that are asked for.
  words bytea NOT NULL,
  key text NOT NULL UNIQUE,
  mime text NOT NULL,
  size integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (history_id, model, voice, speed, words)
);
CREATE INDEX speeches_of_session ON speeches (session_id);

-- Voices of a model that speaks, where a manager said so.
ALTER TABLE models ADD COLUMN IF NOT EXISTS voice jsonb;

ALTER TABLE channels DROP CONSTRAINT IF EXISTS channels_kind_check,
  ADD CONSTRAINT channels_kind_check CHECK (
    kind IN ('built-in', 'openai-compatible', 'stable-diffusion-webui', 'midjourney', 'stability')
  );
