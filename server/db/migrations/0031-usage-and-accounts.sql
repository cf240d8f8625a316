-- What each day's questions and pictures took, kept with each spend: a year is read in a moment.
CREATE TABLE usage_days (
  user_id bigint NOT NULL REFERENCES users,
  -- China's.
  day date NOT NULL,
  type smallint NOT NULL,
  model text NOT NULL,
  -- All, and those that took something.
  requests integer NOT NULL DEFAULT 0,
  records integer NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  deduct_tokens bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, day, type, model)
);
INSERT INTO usage_days
SELECT user_id, (created_at AT TIME ZONE 'Asia/Shanghai')::date, type, model, count(*), count(*),
  sum(prompt_tokens), sum(completion_tokens), sum(deduct_tokens)
FROM consumptions GROUP BY 1, 2, 3, 4;
CREATE INDEX consumptions_model ON consumptions (user_id, model, id DESC);
CREATE INDEX consumptions_type ON consumptions (user_id, type, id DESC);

-- The balance after the last tokens came: a tenth of it is little. Its owner is told once.
ALTER TABLE wallets ADD COLUMN mark bigint NOT NULL DEFAULT 0,
  ADD COLUMN low_told boolean NOT NULL DEFAULT false;
UPDATE wallets SET mark = balance;

ALTER TABLE logins ADD COLUMN agent text NOT NULL DEFAULT '';

CREATE TABLE invites (
  code text PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX invites_user ON invites (user_id, expires_at);
-- Who came by whose link.
CREATE TABLE invited (
  user_id bigint PRIMARY KEY REFERENCES users,
  inviter_id bigint NOT NULL REFERENCES users,
  code text NOT NULL,
  tokens bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX invited_inviter ON invited (inviter_id, created_at);

ALTER TABLE users ADD COLUMN deleted_at timestamptz;
ALTER TABLE users DROP CONSTRAINT users_check;
ALTER TABLE users ADD CONSTRAINT users_check
  CHECK (guest OR deleted_at IS NOT NULL OR (account IS NOT NULL AND password_hash IS NOT NULL));

-- All that is a person's, in one file, for that person alone and for some days.
CREATE TABLE account_files (
  job_id bigint PRIMARY KEY REFERENCES jobs,
  user_id bigint NOT NULL REFERENCES users,
  key text NOT NULL,
  size bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX account_files_user ON account_files (user_id);
