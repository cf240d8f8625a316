-- API keys: only a hash of each is kept, and what its owner tells it by. One that was deleted leaves
-- its row without the hash, for what was used with it.
CREATE TABLE api_keys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  hash bytea UNIQUE,
  mask text NOT NULL,
  name text NOT NULL DEFAULT '',
  month_limit bigint,
  models text[] NOT NULL DEFAULT '{}',
  addresses text[] NOT NULL DEFAULT '{}',
  expires_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE INDEX api_keys_of_user ON api_keys (user_id) WHERE deleted_at IS NULL;

-- What a key with a limit spent in a month, and what is set aside for calls that run.
CREATE TABLE api_key_months (
  key_id bigint NOT NULL REFERENCES api_keys,
  month date NOT NULL,
  used bigint NOT NULL DEFAULT 0,
  reserved bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, month)
);

-- Calls that run, by the number of their hold.
CREATE TABLE api_reservations (
  id uuid PRIMARY KEY,
  key_id bigint NOT NULL REFERENCES api_keys,
  month date NOT NULL,
  reserved bigint NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX api_reservations_age ON api_reservations (expires_at);

CREATE TABLE api_usage (
  key_id bigint NOT NULL REFERENCES api_keys,
  day date NOT NULL,
  model text NOT NULL,
  user_id bigint NOT NULL REFERENCES users,
  count integer NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  deduct_prompt bigint NOT NULL DEFAULT 0,
  deduct_completion bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, day, model)
);
CREATE INDEX api_usage_of_user ON api_usage (user_id, day);

-- Whether the public API may use a model, and how many tokens its calls may have.
ALTER TABLE models ADD COLUMN IF NOT EXISTS disable_api boolean NOT NULL DEFAULT false;
ALTER TABLE models ADD COLUMN api_max_tokens integer;
