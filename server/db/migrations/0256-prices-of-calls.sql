-- Tokens taken per token that a service read from its cache; null: as for the rest of the prompt.
ALTER TABLE models ADD COLUMN cached_factor double precision;
-- Of a day's prompts and answers: what was read from caches, and what was thought.
ALTER TABLE api_usage
  ADD COLUMN cached_tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN reasoning_tokens bigint NOT NULL DEFAULT 0;
