-- What was exported of a session can be fetched as long as its maker may read the session.
ALTER TABLE downloads ADD COLUMN session_id bigint REFERENCES sessions;
