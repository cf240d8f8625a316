-- Whether a login came from a browser that had not been used for its account before, and up to when
-- each login was told of such ones elsewhere.
ALTER TABLE logins ADD COLUMN fresh boolean NOT NULL DEFAULT false;
ALTER TABLE logins ADD COLUMN told_at timestamptz NOT NULL DEFAULT now();
