-- An account that is ended is first shut (deleted_at) and then emptied (erased_at). What a request
-- that was under way by then still writes for its person is refused, whatever writes it.
ALTER TABLE users ADD COLUMN erased_at timestamptz;
CREATE INDEX users_leaving ON users (deleted_at) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;

-- The row is locked as its foreign key does, so that whoever empties the account is waited for.
CREATE FUNCTION refuse_the_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM users WHERE id = NEW.user_id AND erased_at IS NOT NULL FOR KEY SHARE;
  IF FOUND THEN
    RAISE EXCEPTION 'the account of this row has been ended' USING ERRCODE = 'QG001';
  END IF;
  RETURN NEW;
END $$;

-- A row of the emptied is locked by whoever changes it: nothing else has to be waited for.
CREATE FUNCTION refuse_words_of_the_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM users WHERE id = NEW.user_id AND erased_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the account of this row has been ended' USING ERRCODE = 'QG001';
  END IF;
  RETURN NEW;
END $$;

DO $$
DECLARE held text;
BEGIN
  FOREACH held IN ARRAY ARRAY['account_files', 'api_keys', 'app_comments', 'app_reports', 'downloads',
    'favorites', 'files', 'forum_replies', 'forum_visits', 'history', 'image_votes', 'images',
    'invites', 'jobs', 'keyword_marks', 'likes', 'logins', 'model_stats', 'news', 'notice_reads',
    'pins', 'prompt_marks', 'prompt_templates', 'push_devices', 'reports', 'scenarios',
    'second_factors', 'sessions', 'shares', 'training_projects', 'training_uploads', 'videos']
  LOOP
    EXECUTE format('CREATE TRIGGER refuse_the_gone BEFORE INSERT ON %I
      FOR EACH ROW EXECUTE FUNCTION refuse_the_gone()', held);
  END LOOP;
END $$;

CREATE TRIGGER refuse_words_of_the_gone BEFORE UPDATE OF human, ai, reasoning, title, request ON history
  FOR EACH ROW WHEN (NEW.human <> '' OR NEW.ai <> '' OR NEW.reasoning <> '')
  EXECUTE FUNCTION refuse_words_of_the_gone();
CREATE TRIGGER refuse_words_of_the_gone BEFORE UPDATE OF prompt, summary, deleted_at ON sessions
  FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL
    AND (NEW.prompt <> '' OR NEW.summary <> '' OR NEW.deleted_at IS NULL))
  EXECUTE FUNCTION refuse_words_of_the_gone();
CREATE TRIGGER refuse_words_of_the_gone BEFORE UPDATE OF name, prompt, description ON scenarios
  FOR EACH ROW EXECUTE FUNCTION refuse_words_of_the_gone();

CREATE FUNCTION refuse_names_of_the_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'this account has been ended' USING ERRCODE = 'QG001';
END $$;
CREATE TRIGGER refuse_names_of_the_gone
  BEFORE UPDATE OF account, user_name, password_hash, email, avatar, setting, disabled ON users
  FOR EACH ROW WHEN (OLD.erased_at IS NOT NULL AND (NEW.account IS NOT NULL
    OR NEW.user_name <> OLD.user_name OR NEW.password_hash IS NOT NULL OR NEW.email <> ''
    OR NEW.avatar <> '' OR NEW.setting <> '{}' OR NOT NEW.disabled))
  EXECUTE FUNCTION refuse_names_of_the_gone();

-- Where the addresses of a project's files begin anew: old ones end when it is made private.
ALTER TABLE training_projects ADD COLUMN address_salt text NOT NULL DEFAULT '';
CREATE INDEX training_files_stored ON training_files (storage_key) WHERE storage_key IS NOT NULL;
CREATE INDEX training_projects_artifact ON training_projects (artifact_key)
  WHERE artifact_key IS NOT NULL;
