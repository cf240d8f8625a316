-- A line of IPv6 has 256 networks: who gave them out is kept as the networks are, by a keyed digest.
ALTER TABLE users ADD COLUMN made_in_provider text NOT NULL DEFAULT '';
ALTER TABLE invites ADD COLUMN provider text NOT NULL DEFAULT '';
ALTER TABLE invited ADD COLUMN provider text NOT NULL DEFAULT '';
CREATE INDEX invited_provider ON invited (provider, created_at) WHERE provider <> '';
