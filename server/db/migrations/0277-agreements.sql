-- Texts that people agree to, each change of one a new version; an empty text ends it.
CREATE TABLE agreements (
  kind text NOT NULL CHECK (kind IN ('terms', 'privacy', 'content')),
  version integer NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (kind, version)
);

-- Who agreed to which version when, and took it back.
CREATE TABLE consents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL,
  kind text NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  withdrawn_at timestamptz
);
CREATE UNIQUE INDEX consents_in_force ON consents (user_id, kind, version) WHERE withdrawn_at IS NULL;
