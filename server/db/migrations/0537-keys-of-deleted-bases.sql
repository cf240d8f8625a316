-- Sessions and programs name a knowledge base or a style by its key. That of a deleted one goes to
-- nobody but whoever had it: others would be asked in its place, and read the questions.
CREATE TABLE training_keys_used (
  hash bytea PRIMARY KEY,
  owner bigint NOT NULL
);

CREATE FUNCTION hash_of_training_key(key text) RETURNS bytea LANGUAGE sql IMMUTABLE AS
  $$ SELECT sha256(convert_to(lower(key), 'UTF8')) $$;

CREATE FUNCTION note_used_training_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO training_keys_used (hash, owner) VALUES (hash_of_training_key(OLD.key), OLD.user_id)
  ON CONFLICT (hash) DO UPDATE SET owner = excluded.owner;
  RETURN NULL;
END $$;
CREATE TRIGGER note_used_key AFTER DELETE ON training_projects
  FOR EACH ROW EXECUTE FUNCTION note_used_training_key();

-- No row is made, as where the key is another's who still has it.
CREATE FUNCTION refuse_used_training_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM training_keys_used
    WHERE hash = hash_of_training_key(NEW.key) AND owner <> NEW.user_id) THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refuse_used_key BEFORE INSERT ON training_projects
  FOR EACH ROW EXECUTE FUNCTION refuse_used_training_key();
