-- Responses that programs go on from (previous_response_id), thirty days, for the key that made them.
CREATE TABLE api_responses (
  id text PRIMARY KEY,
  key_id bigint NOT NULL REFERENCES api_keys,
  user_id bigint NOT NULL REFERENCES users,
  previous_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- What was asked in it, without what went before, and what was answered, as items.
  items jsonb NOT NULL,
  response jsonb NOT NULL,
  bytes integer NOT NULL
);
CREATE INDEX api_responses_of_key ON api_responses (key_id, created_at);
CREATE INDEX api_responses_of_user ON api_responses (user_id);
CREATE INDEX api_responses_age ON api_responses (created_at);
