-- When the person of a login last proved by their password that it is they.
ALTER TABLE logins ADD COLUMN confirmed_at timestamptz;
UPDATE logins SET confirmed_at = created_at;
ALTER TABLE logins ALTER COLUMN confirmed_at SET DEFAULT now(), ALTER COLUMN confirmed_at SET NOT NULL;
