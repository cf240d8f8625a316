-- Whoever is disabled, or forced to be private, is read by nobody from then on: at once, whoever
-- says so and however. What was public before its owner may open again later.
CREATE FUNCTION sessions_of_the_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sessions SET private = true WHERE user_id = NEW.id AND NOT private;
  UPDATE shares SET revoked_at = now() WHERE user_id = NEW.id AND revoked_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER sessions_of_the_closed AFTER UPDATE OF disabled, session_private ON users
  FOR EACH ROW WHEN ((NEW.disabled AND NOT OLD.disabled)
    OR (NEW.session_private AND NOT OLD.session_private))
  EXECUTE FUNCTION sessions_of_the_closed();

UPDATE sessions SET private = true FROM users
WHERE users.id = sessions.user_id AND (users.disabled OR users.session_private)
  AND NOT sessions.private;
UPDATE shares SET revoked_at = now() FROM users
WHERE users.id = shares.user_id AND shares.revoked_at IS NULL
  AND (users.disabled OR users.session_private);
