-- Branches: messages of a session are a tree. What is shown is one path of it, and along a path
-- numbers only grow, so that a path is read by number as a list was.
ALTER TABLE history
  ADD COLUMN prev_id bigint NOT NULL DEFAULT 0,
  ADD COLUMN shown boolean NOT NULL DEFAULT true,
  ADD COLUMN branch_rank integer NOT NULL DEFAULT 0,
  ADD COLUMN beside_group bigint NOT NULL DEFAULT 0,
  ADD COLUMN place smallint NOT NULL DEFAULT 0,
  ADD COLUMN request jsonb,
  ADD COLUMN with_template boolean NOT NULL DEFAULT false,
  ADD COLUMN title text NOT NULL DEFAULT '',
  ADD COLUMN edited_at timestamptz;
UPDATE history SET prev_id = before.prev_id
  FROM (SELECT id, lag(id, 1, 0::bigint) OVER (PARTITION BY session_id ORDER BY id) AS prev_id
        FROM history) AS before
  WHERE before.id = history.id AND before.prev_id <> 0;
CREATE INDEX history_siblings ON history (session_id, prev_id);

-- Two answers beside each other are written at once; two sends at once still cannot both start.
DROP INDEX history_one_reply;
CREATE UNIQUE INDEX history_one_reply ON history (session_id, user_id, place)
  WHERE state = 'streaming';

ALTER TABLE sessions
  ADD COLUMN scenario_id bigint,
  ADD COLUMN embedding_key text NOT NULL DEFAULT '',
  ADD COLUMN temporary boolean NOT NULL DEFAULT false,
  ADD COLUMN forked_from bigint,
  ADD COLUMN imported boolean NOT NULL DEFAULT false;

CREATE INDEX sessions_temporary ON sessions (created_at) WHERE temporary AND deleted_at IS NULL;

-- The two people of a private session.
CREATE TABLE friends (
  low_user_id bigint NOT NULL REFERENCES users,
  high_user_id bigint NOT NULL REFERENCES users,
  session_id bigint NOT NULL UNIQUE REFERENCES sessions,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (low_user_id, high_user_id),
  CHECK (low_user_id < high_user_id)
);
CREATE INDEX friends_high ON friends (high_user_id);

-- history_id 0: the session as a whole.
CREATE TABLE favorites (
  user_id bigint NOT NULL REFERENCES users,
  session_id bigint NOT NULL REFERENCES sessions,
  history_id bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, session_id, history_id)
);
CREATE INDEX favorites_newest ON favorites (user_id, created_at DESC);
CREATE INDEX favorites_message ON favorites (history_id) WHERE history_id <> 0;

CREATE TABLE likes (
  user_id bigint NOT NULL REFERENCES users,
  history_id bigint NOT NULL REFERENCES history ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (history_id, user_id)
);

CREATE TABLE shares (
  key text PRIMARY KEY,
  session_id bigint NOT NULL REFERENCES sessions,
  user_id bigint NOT NULL REFERENCES users,
  -- The messages that were shown when the link was made.
  last_history_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
-- A session has one link at a time.
CREATE UNIQUE INDEX shares_session ON shares (session_id) WHERE revoked_at IS NULL;

CREATE TABLE files (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id bigint NOT NULL REFERENCES users,
  kind text NOT NULL CHECK (kind IN ('image', 'text')),
  -- Random: the name below /files/ and in the storage.
  key text NOT NULL UNIQUE,
  name text NOT NULL DEFAULT '',
  mime text NOT NULL,
  size integer NOT NULL,
  width integer NOT NULL DEFAULT 0,
  height integer NOT NULL DEFAULT 0,
  text text NOT NULL DEFAULT '',
  cut boolean NOT NULL DEFAULT false,
  seen_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX files_user ON files (user_id, created_at DESC);
CREATE INDEX files_seen ON files (seen_at);
-- Which messages refer to a file.
CREATE INDEX history_request ON history USING gin (request jsonb_path_ops)
  WHERE request IS NOT NULL;

-- Files made to be fetched soon, such as exports.
CREATE TABLE downloads (
  key text PRIMARY KEY,
  user_id bigint REFERENCES users,
  storage_key text NOT NULL,
  name text NOT NULL,
  mime text NOT NULL,
  size integer NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Pictures of structured messages, for the cards of sessions.
CREATE INDEX history_pictures ON history (session_id, id DESC)
  WHERE request -> 'images' -> 0 IS NOT NULL;

-- What a message is found by, as numbers: its characters and pairs of neighbouring ones, and marks
-- of whose list and which session it is in and of when it is from (server/session/search-grams.ts).
CREATE TABLE message_search (
  history_id bigint PRIMARY KEY,
  session_id bigint NOT NULL,
  grams integer[] NOT NULL
);
-- Those of long texts stand beside the rows, which are read by the hundred. Statistics of them would
-- cost more than they tell.
ALTER TABLE message_search ALTER COLUMN grams SET STORAGE EXTERNAL,
  ALTER COLUMN grams SET STATISTICS 0;
ALTER TABLE message_search SET (toast_tuple_target = 128);
CREATE INDEX message_search_grams ON message_search USING gin (grams)
  WITH (gin_pending_list_limit = 512);
-- Messages whose entry in message_search is missing or old. A message may stand here several times,
-- so that nobody who writes one waits for whoever reads the queue.
CREATE TABLE search_queue (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  history_id bigint NOT NULL
);

CREATE FUNCTION queue_added_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id) SELECT id FROM added WHERE state <> 'streaming';
  IF FOUND THEN PERFORM pg_notify('search_queue', ''); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER history_added AFTER INSERT ON history
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION queue_added_messages();

CREATE FUNCTION queue_removed_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id) SELECT id FROM removed;
  IF FOUND THEN PERFORM pg_notify('search_queue', ''); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER history_removed AFTER DELETE ON history
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION queue_removed_messages();

-- Of a reply that is being written only its end counts.
CREATE FUNCTION queue_changed_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id) VALUES (NEW.id);
  PERFORM pg_notify('search_queue', '');
  RETURN NULL;
END $$;
CREATE TRIGGER history_changed AFTER UPDATE OF human, ai, title, state ON history
  FOR EACH ROW WHEN (NEW.state <> 'streaming' AND (OLD.state = 'streaming'
    OR NEW.human <> OLD.human OR NEW.ai <> OLD.ai OR NEW.title <> OLD.title))
  EXECUTE FUNCTION queue_changed_message();

-- Whose list its messages are in, and whether in the public one.
CREATE FUNCTION queue_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id)
    SELECT id FROM history WHERE session_id = NEW.id AND state <> 'streaming';
  IF FOUND THEN PERFORM pg_notify('search_queue', ''); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER session_changed AFTER UPDATE OF private, user_id, deleted_at ON sessions
  FOR EACH ROW WHEN (NEW.private <> OLD.private OR NEW.user_id <> OLD.user_id
    OR NEW.deleted_at IS DISTINCT FROM OLD.deleted_at)
  EXECUTE FUNCTION queue_session();

INSERT INTO search_queue (history_id) SELECT id FROM history WHERE state <> 'streaming';

CREATE TABLE scenario_categories (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  sort integer NOT NULL DEFAULT 100
);
CREATE TABLE scenarios (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  category_id bigint NOT NULL REFERENCES scenario_categories,
  user_id bigint REFERENCES users,
  name text NOT NULL,
  color text NOT NULL DEFAULT '#2563eb',
  description text NOT NULL DEFAULT '',
  prompt text NOT NULL,
  display boolean NOT NULL DEFAULT true,
  session_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);
-- What came with the program is known by its name.
CREATE UNIQUE INDEX scenarios_built_in ON scenarios (name) WHERE user_id IS NULL;
ALTER TABLE sessions ADD FOREIGN KEY (scenario_id) REFERENCES scenarios;
CREATE INDEX sessions_scenario ON sessions (scenario_id, updated_at DESC)
  WHERE scenario_id IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE notices (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  content text NOT NULL,
  code_url text NOT NULL DEFAULT '',
  bucket_key text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE notice_reads (
  user_id bigint NOT NULL REFERENCES users,
  notice_id bigint NOT NULL REFERENCES notices ON DELETE CASCADE,
  read_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, notice_id)
);

CREATE TABLE model_stats (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  model text NOT NULL,
  state text NOT NULL CHECK (state IN ('success', 'error', 'stop')),
  first_time integer NOT NULL,
  time integer NOT NULL,
  request_time timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX model_stats_time ON model_stats (created_at);

-- A model service of the environment is offered while some process lives that was started with it.
ALTER TABLE instances ADD COLUMN environment boolean NOT NULL DEFAULT false;
