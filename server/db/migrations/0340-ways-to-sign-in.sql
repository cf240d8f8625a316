-- What owners set of the ways to sign in besides the password. One row; the secrets are sealed, as
-- the keys of channels.
CREATE TABLE sign_in_settings (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  settings jsonb NOT NULL DEFAULT '{}',
  smtp_password bytea,
  sms_secret bytea
);
INSERT INTO sign_in_settings DEFAULT VALUES;

-- Who came from an account elsewhere has no password until they set one.
ALTER TABLE users DROP CONSTRAINT users_check;
ALTER TABLE users ADD CONSTRAINT users_check
  CHECK (guest OR deleted_at IS NOT NULL OR account IS NOT NULL);

-- Mail addresses and phone numbers that people proved to be theirs, in their one normal form.
CREATE TABLE contacts (
  user_id bigint NOT NULL REFERENCES users,
  kind text NOT NULL CHECK (kind IN ('mail', 'phone')),
  value text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, kind),
  UNIQUE (kind, value)
);

-- Codes that were sent. Neither the code nor where it went can be read back.
CREATE TABLE contact_codes (
  id uuid PRIMARY KEY,
  purpose text NOT NULL,
  -- Whom it stands for; null: nobody has that address, and nothing was sent.
  user_id bigint REFERENCES users,
  target_hash bytea NOT NULL,
  code_hash bytea NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL
);
CREATE INDEX contact_codes_expiry ON contact_codes (expires_at);
CREATE INDEX contact_codes_of_person ON contact_codes (user_id) WHERE user_id IS NOT NULL;

-- Sign-ins, and changes of how one signs in.
CREATE TABLE account_events (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  user_id bigint NOT NULL REFERENCES users,
  kind text NOT NULL,
  way text NOT NULL DEFAULT '',
  agent text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX account_events_of_person ON account_events (user_id, id DESC);
CREATE INDEX account_events_by_time ON account_events (created_at);

-- Services whose accounts people may sign in with.
CREATE TABLE sign_in_providers (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  name text NOT NULL,
  -- Of OpenID Connect its issuer; of others the address in place of the usual one, or empty.
  issuer text NOT NULL DEFAULT '',
  client_id text NOT NULL,
  client_secret bytea,
  agent_id text NOT NULL DEFAULT '',
  scope text NOT NULL DEFAULT '',
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Accounts elsewhere that belong to a person here. `issuer` says who vouches for the subject, so
-- that a provider whose address is changed vouches for nobody it did not vouch for before.
CREATE TABLE identities (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  user_id bigint NOT NULL REFERENCES users,
  provider_id bigint NOT NULL REFERENCES sign_in_providers,
  issuer text NOT NULL,
  subject text NOT NULL,
  -- What the account elsewhere is called; empty: it did not say.
  label text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider_id, issuer, subject),
  UNIQUE (user_id, provider_id)
);

-- Ways to a provider and back that are under way.
CREATE TABLE provider_flows (
  -- SHA-256 of the state, and of what the browser keeps.
  state_hash bytea PRIMARY KEY,
  secret_hash bytea NOT NULL,
  provider_id bigint NOT NULL REFERENCES sign_in_providers ON DELETE CASCADE,
  -- The address that was told to the provider.
  redirect_url text NOT NULL,
  nonce text NOT NULL,
  verifier text NOT NULL,
  -- Of linking: the login that asked for it, and its person. Of a sign-in: who was vouched for.
  jti uuid REFERENCES logins ON DELETE CASCADE,
  user_id bigint REFERENCES users,
  stage text NOT NULL DEFAULT 'away' CHECK (stage IN ('away', 'back')),
  expires_at timestamptz NOT NULL
);
CREATE INDEX provider_flows_expiry ON provider_flows (expires_at);

CREATE TABLE passkeys (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  user_id bigint NOT NULL REFERENCES users,
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL DEFAULT 0,
  transports text[] NOT NULL DEFAULT '{}',
  -- The name of the host that it was made for: it works nowhere else.
  host text NOT NULL,
  name text NOT NULL,
  used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX passkeys_of_person ON passkeys (user_id);

CREATE TABLE passkey_questions (
  id uuid PRIMARY KEY,
  challenge text NOT NULL,
  -- Null: whoever answers says who they are.
  user_id bigint REFERENCES users,
  expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_questions_expiry ON passkey_questions (expires_at);

DO $$
DECLARE held text;
BEGIN
  FOREACH held IN ARRAY ARRAY['contacts', 'contact_codes', 'account_events', 'identities',
    'provider_flows', 'passkeys', 'passkey_questions']
  LOOP
    EXECUTE format('CREATE TRIGGER refuse_the_gone BEFORE INSERT ON %I
      FOR EACH ROW EXECUTE FUNCTION refuse_the_gone()', held);
  END LOOP;
END $$;
