-- What is public of somebody is private while they are disabled, or forced to be private, and public
-- again afterwards. `private` tells, as before, who may read a session, so that all indexes and the
-- search go by it; what became private with its owner is marked.
ALTER TABLE sessions ADD COLUMN closed_with_owner boolean NOT NULL DEFAULT false;
CREATE INDEX sessions_closed_with_owner ON sessions (user_id) WHERE closed_with_owner;

-- A link leads nowhere while its owner is closed: nothing of it need be revoked.
DROP TRIGGER sessions_of_the_closed ON users;
CREATE OR REPLACE FUNCTION sessions_of_the_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.disabled OR NEW.session_private THEN
    UPDATE sessions SET private = true, closed_with_owner = true
    WHERE user_id = NEW.id AND NOT private;
  ELSE
    UPDATE sessions SET private = false, closed_with_owner = false
    WHERE user_id = NEW.id AND closed_with_owner;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER sessions_of_the_closed AFTER UPDATE OF disabled, session_private ON users
  FOR EACH ROW
  WHEN ((NEW.disabled OR NEW.session_private) <> (OLD.disabled OR OLD.session_private))
  EXECUTE FUNCTION sessions_of_the_closed();

-- Nor is anything of theirs made public meanwhile, whoever does it.
CREATE FUNCTION session_of_the_closed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE closed boolean;
BEGIN
  SELECT disabled OR session_private INTO closed FROM users WHERE id = NEW.user_id FOR SHARE;
  IF closed THEN
    NEW.private := true;
    NEW.closed_with_owner := true;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER session_of_the_closed BEFORE INSERT OR UPDATE OF private, user_id ON sessions
  FOR EACH ROW WHEN (NOT NEW.private)
  EXECUTE FUNCTION session_of_the_closed();
