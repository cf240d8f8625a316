-- What the figures of administration are counted from: one row for each time that a model was used
-- or failed, whatever it cost, with the channel that served it (null: what is built in, or not known).
CREATE TABLE model_uses (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL,
  type smallint NOT NULL,
  model text NOT NULL,
  channel_id bigint,
  failed boolean NOT NULL DEFAULT false,
  prompt_tokens integer NOT NULL DEFAULT 0,
  completion_tokens integer NOT NULL DEFAULT 0,
  deduct_tokens bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX model_uses_created_at ON model_uses (created_at);

-- A spend of before belongs to the one channel that serves its model; of several nobody knows which.
INSERT INTO model_uses (user_id, type, model, channel_id, prompt_tokens, completion_tokens,
  deduct_tokens, created_at)
SELECT c.user_id, c.type, c.model, only_one.channel_id, c.prompt_tokens, c.completion_tokens,
  c.deduct_tokens, c.created_at
FROM consumptions c
LEFT JOIN (
  SELECT m.name, min(mc.channel_id) AS channel_id FROM models m
  JOIN model_channels mc ON mc.model_id = m.id GROUP BY m.name HAVING count(*) = 1
) only_one ON only_one.name = c.model
WHERE c.created_at > now() - interval '90 days';

DROP TABLE stat_models;
CREATE TABLE stat_channels (
  day date NOT NULL,
  channel_id bigint NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (day, channel_id)
);
-- All is counted anew by its meaning of now.
DELETE FROM stat_marks;
