-- Scenarios that people make: private until a manager has approved them. What a manager changed or
-- deleted of those that came with the program stays so.
ALTER TABLE scenarios
  ADD COLUMN state text NOT NULL DEFAULT 'public' CHECK (state IN ('private', 'pending', 'public')),
  ADD COLUMN edited boolean NOT NULL DEFAULT false,
  ADD COLUMN deleted_at timestamptz;
CREATE INDEX scenarios_of_person ON scenarios (user_id, id DESC)
  WHERE user_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX scenarios_pending ON scenarios (id) WHERE state = 'pending' AND deleted_at IS NULL;

-- Templates of prompts: of those without a person everybody sees those that are not deleted.
CREATE TABLE prompt_templates (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint REFERENCES users,
  -- 0 chat, 1 image.
  type smallint NOT NULL CHECK (type IN (0, 1)),
  -- Names of models: { "include": [], "exclude": [] }.
  attrs jsonb NOT NULL DEFAULT '{"include": [], "exclude": []}',
  -- Named act or title and prompt or content on the wire.
  title text NOT NULL,
  content text NOT NULL,
  sort integer NOT NULL DEFAULT 1000,
  -- A manager changed it: it is not brought up to date any more.
  edited boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE UNIQUE INDEX prompt_templates_built_in ON prompt_templates (type, title) WHERE user_id IS NULL;
CREATE INDEX prompt_templates_of_person ON prompt_templates (user_id, type, id)
  WHERE user_id IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE prompt_marks (
  user_id bigint NOT NULL REFERENCES users,
  prompt_id bigint NOT NULL REFERENCES prompt_templates,
  kind text NOT NULL CHECK (kind IN ('top', 'hide')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, prompt_id, kind)
);
