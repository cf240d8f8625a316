CREATE TABLE users (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account text UNIQUE,
  user_name text NOT NULL,
  password_hash text,
  email text NOT NULL DEFAULT '',
  avatar text NOT NULL DEFAULT '',
  guest boolean NOT NULL DEFAULT false,
  manager boolean NOT NULL DEFAULT false,
  disabled boolean NOT NULL DEFAULT false,
  session_blacklist boolean NOT NULL DEFAULT false,
  session_private boolean NOT NULL DEFAULT false,
  vip_activated_at timestamptz,
  vip_expired_at timestamptz,
  subscribe smallint NOT NULL DEFAULT 0,
  setting jsonb NOT NULL DEFAULT '{}',
  merged_into bigint REFERENCES users,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (guest OR (account IS NOT NULL AND password_hash IS NOT NULL))
);

CREATE TABLE logins (
  jti uuid PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX logins_user ON logins (user_id);
CREATE INDEX logins_expiry ON logins (expires_at);

CREATE TABLE tickets (
  hash bytea PRIMARY KEY,
  jti uuid NOT NULL REFERENCES logins ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);

CREATE TABLE captchas (
  id uuid PRIMARY KEY,
  answer text NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE TABLE secrets (
  name text PRIMARY KEY,
  value text NOT NULL
);

-- The columns are rate-limiter-flexible's.
CREATE TABLE rate_limits (
  key varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);

CREATE TABLE channels (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('built-in', 'openai-compatible')),
  label text NOT NULL,
  base_url text NOT NULL DEFAULT '',
  key_encrypted bytea,
  source text NOT NULL CHECK (source IN ('built-in', 'environment', 'manager')),
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE models (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  label text NOT NULL,
  type smallint NOT NULL,
  color text NOT NULL DEFAULT '#2563eb',
  logo text NOT NULL DEFAULT '',
  remark text NOT NULL DEFAULT '',
  display boolean NOT NULL DEFAULT true,
  vision boolean NOT NULL DEFAULT false,
  vip_excluded boolean NOT NULL DEFAULT false,
  max_prompt integer,
  max_tokens integer,
  factor double precision NOT NULL DEFAULT 1 CHECK (factor >= 0),
  prompt_factor double precision CHECK (prompt_factor >= 0),
  accelerator text NOT NULL DEFAULT '',
  sort integer NOT NULL DEFAULT 100,
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE model_channels (
  model_id bigint NOT NULL REFERENCES models ON DELETE CASCADE,
  channel_id bigint NOT NULL REFERENCES channels ON DELETE CASCADE,
  upstream_name text NOT NULL,
  priority integer NOT NULL DEFAULT 0,
  PRIMARY KEY (model_id, channel_id)
);

CREATE TABLE sessions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uuid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  type smallint NOT NULL DEFAULT 0,
  user_id bigint NOT NULL REFERENCES users,
  model text NOT NULL,
  prompt text NOT NULL DEFAULT '',
  summary text NOT NULL DEFAULT '',
  private boolean NOT NULL DEFAULT true,
  reply_count integer NOT NULL DEFAULT 0,
  like_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE INDEX sessions_mine ON sessions (user_id, updated_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX sessions_public ON sessions (updated_at DESC, id DESC)
  WHERE deleted_at IS NULL AND NOT private AND prompt <> '';
CREATE INDEX sessions_month ON sessions (user_id, created_at);

CREATE TABLE history (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id bigint NOT NULL REFERENCES sessions,
  user_id bigint NOT NULL REFERENCES users,
  human text NOT NULL,
  ai text NOT NULL DEFAULT '',
  reasoning text NOT NULL DEFAULT '',
  parts jsonb NOT NULL DEFAULT '[]',
  type smallint NOT NULL DEFAULT 0,
  model text NOT NULL,
  state text NOT NULL DEFAULT 'none'
    CHECK (state IN ('none', 'streaming', 'done', 'stopped', 'error', 'interrupted')),
  error_code text NOT NULL DEFAULT '',
  error_message text NOT NULL DEFAULT '',
  owner integer,
  stop_requested boolean NOT NULL DEFAULT false,
  hold_id uuid,
  prompt_tokens integer NOT NULL DEFAULT 0,
  completion_tokens integer NOT NULL DEFAULT 0,
  deduct_tokens bigint NOT NULL DEFAULT 0,
  like_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  answered_at timestamptz
);
CREATE INDEX history_session ON history (session_id, id);
CREATE INDEX history_streaming ON history (owner) WHERE state = 'streaming';
-- Two sends at once into one session cannot both start a reply.
CREATE UNIQUE INDEX history_one_reply ON history (session_id) WHERE state = 'streaming';

CREATE TABLE instances (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE wallets (
  user_id bigint PRIMARY KEY REFERENCES users,
  balance bigint NOT NULL DEFAULT 0 CHECK (balance >= 0),
  vip_balance bigint NOT NULL DEFAULT 0 CHECK (vip_balance >= 0),
  vip_period timestamptz
);

CREATE TABLE ledger (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  pot text NOT NULL CHECK (pot IN ('balance', 'vip')),
  kind text NOT NULL CHECK (kind IN ('grant', 'expire', 'hold', 'release', 'spend', 'transfer')),
  amount bigint NOT NULL,
  reference text NOT NULL DEFAULT '',
  remark text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ledger_user ON ledger (user_id, id);

CREATE FUNCTION ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only';
END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON ledger
  FOR EACH ROW EXECUTE FUNCTION ledger_is_append_only();

CREATE TABLE holds (
  id uuid PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  balance bigint NOT NULL CHECK (balance >= 0),
  vip bigint NOT NULL CHECK (vip >= 0),
  vip_allowed boolean NOT NULL DEFAULT true,
  spent bigint,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'released')),
  reference text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX holds_open ON holds (expires_at) WHERE state = 'open';

CREATE TABLE consumptions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  type smallint NOT NULL,
  model text NOT NULL,
  human text NOT NULL DEFAULT '',
  prompt_tokens integer NOT NULL,
  completion_tokens integer NOT NULL,
  deduct_tokens bigint NOT NULL,
  current_balance bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX consumptions_user ON consumptions (user_id, id DESC);

CREATE TABLE idempotency (
  user_id bigint NOT NULL,
  call text NOT NULL,
  key uuid NOT NULL,
  request_hash bytea NOT NULL,
  answer jsonb,
  token_user_id bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, call, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);
