-- The first message to somebody is a request: its writer writes on once the other one has accepted.
ALTER TABLE friends
  ADD COLUMN asked_by bigint REFERENCES users,
  ADD COLUMN asked_at timestamptz,
  ADD COLUMN accepted_at timestamptz,
  ADD COLUMN low_blocks boolean NOT NULL DEFAULT false,
  ADD COLUMN high_blocks boolean NOT NULL DEFAULT false;
-- Whoever talked already goes on talking.
UPDATE friends SET accepted_at = now() FROM sessions s
  WHERE s.id = friends.session_id AND s.prompt <> '';
CREATE INDEX friends_asked ON friends (asked_by, asked_at) WHERE accepted_at IS NULL;
