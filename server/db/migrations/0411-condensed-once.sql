-- Until when a process is condensing a conversation, so that no other does the same and charges it again.
ALTER TABLE sessions ADD COLUMN condensing_until timestamptz;
