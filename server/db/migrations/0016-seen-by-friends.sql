-- The newest message that each of two people has had before them; what was there before counts as seen.
ALTER TABLE friends
  ADD COLUMN low_seen bigint NOT NULL DEFAULT 0,
  ADD COLUMN high_seen bigint NOT NULL DEFAULT 0;
UPDATE friends f SET low_seen = m.newest, high_seen = m.newest
FROM (SELECT session_id, max(id) AS newest FROM history GROUP BY session_id) m
WHERE m.session_id = f.session_id;
