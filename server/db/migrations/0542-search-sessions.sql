-- A session that is opened, closed, moved or deleted waits for the index by its number alone, and its
-- messages are listed a part at a time: to close all that a person has costs no more than its sessions.
CREATE TABLE search_sessions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id bigint NOT NULL,
  -- The last of its messages that was listed.
  after bigint NOT NULL DEFAULT 0
);

-- Under a name of its own: the one of before, queue_session, is made once more by a later number.
CREATE FUNCTION queue_whole_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_sessions (session_id) VALUES (NEW.id);
  PERFORM pg_notify('search_queue', '');
  RETURN NULL;
END $$;
DROP TRIGGER session_changed ON sessions;
CREATE TRIGGER session_changed AFTER UPDATE OF private, user_id, deleted_at ON sessions
  FOR EACH ROW WHEN (NEW.private <> OLD.private OR NEW.user_id <> OLD.user_id
    OR NEW.deleted_at IS DISTINCT FROM OLD.deleted_at)
  EXECUTE FUNCTION queue_whole_session();
