-- Of which end of their membership people were told by push, and which they saw coming on screen.
ALTER TABLE users ADD COLUMN vip_end_told timestamptz;
ALTER TABLE users ADD COLUMN vip_end_seen timestamptz;
CREATE INDEX users_vip_end ON users (vip_expired_at) WHERE vip_expired_at IS NOT NULL;
