-- A mark of the network that a login was made from: codes asked for from there have a purse of their own.
ALTER TABLE logins ADD COLUMN network text NOT NULL DEFAULT '';
-- When a code was sent; asked for again within a minute it stands for the same one, which is sent once.
ALTER TABLE contact_codes ADD COLUMN sent_at timestamptz, ADD COLUMN same_as uuid;
