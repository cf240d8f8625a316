-- A picture that was drawn goes with its message and with its session, whoever deletes them and
-- however: its address is dead from then on.
CREATE FUNCTION images_of_deleted_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE images SET deleted_at = now() FROM gone
  WHERE images.history_id = gone.id AND images.deleted_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER images_of_deleted_messages AFTER DELETE ON history
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION images_of_deleted_messages();

CREATE FUNCTION images_of_deleted_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE images SET deleted_at = now() WHERE session_id = NEW.id AND deleted_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER images_of_deleted_session AFTER UPDATE OF deleted_at ON sessions
  FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL)
  EXECUTE FUNCTION images_of_deleted_session();

UPDATE images SET deleted_at = now() FROM sessions
WHERE sessions.id = images.session_id AND images.deleted_at IS NULL
  AND (sessions.deleted_at IS NOT NULL
    OR NOT EXISTS (SELECT FROM history WHERE history.id = images.history_id));
