-- Two ranks of managers: owners make managers.
ALTER TABLE users ADD COLUMN owner boolean NOT NULL DEFAULT false;
UPDATE users SET owner = true WHERE id = (SELECT min(id) FROM users WHERE manager);

-- What managers did. Nothing in it is ever changed.
CREATE TABLE manager_acts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  call text NOT NULL,
  subject text NOT NULL DEFAULT '',
  input jsonb NOT NULL,
  before jsonb,
  after jsonb,
  ip text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX manager_acts_person ON manager_acts (user_id, id DESC);
CREATE INDEX manager_acts_call ON manager_acts (call, id DESC);
CREATE INDEX manager_acts_subject ON manager_acts (subject, id DESC);
CREATE FUNCTION manager_acts_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the log of acts is append-only';
END $$;
CREATE TRIGGER manager_acts_are_kept BEFORE UPDATE OR DELETE ON manager_acts
  FOR EACH ROW EXECUTE FUNCTION manager_acts_are_kept();
CREATE TRIGGER manager_acts_stay BEFORE TRUNCATE ON manager_acts
  FOR EACH STATEMENT EXECUTE FUNCTION manager_acts_are_kept();

-- The second proof of identity of managers who want one.
CREATE TABLE second_factors (
  user_id bigint PRIMARY KEY REFERENCES users,
  -- AES-256-GCM, as the keys of channels.
  secret bytea NOT NULL,
  -- SHA-256, in hexadecimal, of codes that work once each.
  recovery text[] NOT NULL DEFAULT '{}',
  -- The last time step whose code was used: none works twice.
  last_step bigint NOT NULL DEFAULT 0,
  enabled_at timestamptz
);

-- What was counted, in steps of five minutes: figures and charts are read from here.
CREATE TABLE stat_steps (
  metric text NOT NULL,
  at timestamptz NOT NULL,
  value bigint NOT NULL,
  PRIMARY KEY (metric, at)
);
-- What each person spent on a day (of China).
CREATE TABLE stat_spent (
  day date NOT NULL,
  user_id bigint NOT NULL REFERENCES users,
  tokens bigint NOT NULL,
  PRIMARY KEY (day, user_id)
);
CREATE TABLE stat_marks (
  name text PRIMARY KEY,
  until timestamptz NOT NULL
);
CREATE INDEX history_when ON history USING brin (created_at);
CREATE INDEX sessions_when ON sessions USING brin (created_at);
CREATE INDEX consumptions_when ON consumptions USING brin (created_at);
CREATE INDEX images_when ON images USING brin (created_at);
CREATE INDEX users_when ON users (created_at);
CREATE INDEX users_vip ON users (vip_expired_at) WHERE vip_expired_at IS NOT NULL;

-- How channels of model services do.
ALTER TABLE channels ADD COLUMN weight integer NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000);
ALTER TABLE channels ADD COLUMN priority integer NOT NULL DEFAULT 0;
CREATE TABLE channel_health (
  channel_id bigint PRIMARY KEY REFERENCES channels ON DELETE CASCADE,
  successes bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  -- ms of the last trial.
  latency integer,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_error text NOT NULL DEFAULT ''
);

-- Notices appear when their time has come, and may bring a file.
ALTER TABLE notices ADD COLUMN IF NOT EXISTS publish_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE notices ADD COLUMN IF NOT EXISTS file_size bigint NOT NULL DEFAULT 0;
ALTER TABLE notices ADD COLUMN IF NOT EXISTS file_name text NOT NULL DEFAULT '';
ALTER TABLE notices ADD COLUMN IF NOT EXISTS view_count integer NOT NULL DEFAULT 0;
UPDATE notices SET publish_at = created_at;

ALTER TABLE channels DROP CONSTRAINT channels_source_check,
  ADD CONSTRAINT channels_source_check
    CHECK (source IN ('built-in', 'environment', 'manager', 'local'));
