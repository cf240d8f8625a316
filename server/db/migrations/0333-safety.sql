-- How texts and pictures are checked, the secret of the service that does it, sealed. One row.
CREATE TABLE safety (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  settings jsonb NOT NULL DEFAULT '{}',
  secret bytea
);
INSERT INTO safety DEFAULT VALUES;

-- What a check refused or wants a person to look at.
CREATE TABLE safety_cases (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  user_id bigint NOT NULL,
  -- Whether it came from the person or from a model.
  way text NOT NULL CHECK (way IN ('in', 'out')),
  kind text NOT NULL CHECK (kind IN ('text', 'picture')),
  level text NOT NULL CHECK (level IN ('review', 'refuse')),
  by text NOT NULL,
  reason text NOT NULL,
  -- The part that was judged; empty where nothing of it may be kept.
  excerpt text NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'allowed', 'confirmed')),
  appeal text NOT NULL DEFAULT '',
  appealed_at timestamptz,
  decided_by bigint,
  decided_at timestamptz
);
CREATE INDEX safety_cases_open ON safety_cases (id) WHERE state = 'open';
CREATE INDEX safety_cases_of_person ON safety_cases (user_id, id DESC);

-- What checks did on a day, by who does them: for the bill and the delay.
CREATE TABLE safety_days (
  day date NOT NULL,
  by text NOT NULL,
  checks bigint NOT NULL DEFAULT 0,
  characters bigint NOT NULL DEFAULT 0,
  reviews bigint NOT NULL DEFAULT 0,
  refusals bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  ms double precision NOT NULL DEFAULT 0,
  PRIMARY KEY (day, by)
);
