-- How each key of each channel did with each model: its last outcomes, and until when it is set aside.
-- Which key it is stands here as a digest and as its last letters.
CREATE TABLE channel_lines (
  channel_id bigint NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  key_mark text NOT NULL,
  model text NOT NULL,
  key_hint text NOT NULL DEFAULT '',
  -- The last hundred, newest first: [{at, result, ms, status}].
  outcomes jsonb NOT NULL DEFAULT '[]',
  aside_until timestamptz,
  aside_reason text NOT NULL DEFAULT '',
  strikes integer NOT NULL DEFAULT 0,
  -- Calls that were cut because another channel was sooner, and the tokens, roughly, that were sent
  -- with them: their service bills what nobody here pays for.
  cut_calls bigint NOT NULL DEFAULT 0,
  cut_tokens bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (channel_id, key_mark, model)
);
