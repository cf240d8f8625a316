-- What was asked with a key, for its owner, thirty days; the words alone where the owner wants them.
ALTER TABLE api_keys ADD COLUMN log_bodies boolean NOT NULL DEFAULT false;
CREATE TABLE api_calls (
  id uuid PRIMARY KEY,
  key_id bigint NOT NULL REFERENCES api_keys,
  user_id bigint NOT NULL REFERENCES users,
  begun_at timestamptz NOT NULL,
  path text NOT NULL,
  model text NOT NULL,
  status integer NOT NULL,
  -- What was wrong, as the program was told; empty: nothing.
  failure text NOT NULL,
  -- Until the head of the answer and until its end.
  first_ms integer NOT NULL,
  ms integer NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  deduct_tokens bigint NOT NULL,
  request text,
  answer text
);
CREATE INDEX api_calls_of_user ON api_calls (user_id, begun_at DESC, id);
CREATE INDEX api_calls_age ON api_calls (begun_at);
