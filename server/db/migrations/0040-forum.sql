-- The forum: public sessions of people, in groups that managers keep.
CREATE TABLE forum_groups (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  color text NOT NULL DEFAULT '#2563eb',
  sort integer NOT NULL DEFAULT 100
);
-- The first has the number 1: where questions go that name none.
INSERT INTO forum_groups (name, color, sort) VALUES
  ('综合', '#475569', 10);
INSERT INTO forum_groups (name, color, sort) VALUES
  ('提问技巧', '#2563eb', 20),
  ('写作办公', '#0ea5e9', 30),
  ('编程开发', '#7c3aed', 40),
  ('图片创作', '#db2777', 50),
  ('视频语音', '#ea580c', 60),
  ('学习教育', '#16a34a', 70),
  ('模型评测', '#0f766e', 80),
  ('建议反馈', '#b45309', 90);

ALTER TABLE sessions
  ADD COLUMN group_id bigint NOT NULL DEFAULT 1,
  -- The message that answers the question, as its asker found.
  ADD COLUMN accepted_id bigint,
  ADD COLUMN essence boolean NOT NULL DEFAULT false,
  ADD COLUMN pinned boolean NOT NULL DEFAULT false,
  ADD COLUMN closed boolean NOT NULL DEFAULT false;

-- Fades with time: a question of today with no answer stands where one of yesterday with six answers
-- does. It changes with a question's counts alone, so that an index has it.
CREATE FUNCTION forum_heat(replies integer, likes integer, created timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
  SELECT ln(1 + 2 * greatest(replies, 0) + greatest(likes, 0))
    + extract(epoch FROM created - timestamptz '2024-01-01 00:00:00+00')::double precision / 33750
$$;

CREATE INDEX forum_newest ON sessions (pinned DESC, updated_at DESC, id DESC)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '';
CREATE INDEX forum_hot ON sessions (forum_heat(reply_count, like_count, created_at) DESC, id DESC)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '';
CREATE INDEX forum_group ON sessions (group_id, pinned DESC, updated_at DESC, id DESC)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '';
CREATE INDEX forum_asker ON sessions (user_id, updated_at DESC, id DESC)
  WHERE type = 2 AND deleted_at IS NULL AND prompt <> '';
CREATE INDEX forum_answered ON sessions (updated_at DESC, id DESC)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '' AND accepted_id IS NOT NULL;
CREATE INDEX forum_unanswered ON sessions (updated_at DESC, id DESC)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '' AND accepted_id IS NULL;
CREATE INDEX forum_essence ON sessions (updated_at DESC, id DESC)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '' AND essence;

-- Who answered where, and which models did.
CREATE TABLE forum_replies (
  user_id bigint NOT NULL REFERENCES users,
  session_id bigint NOT NULL REFERENCES sessions,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, session_id)
);
CREATE INDEX forum_replies_newest ON forum_replies (user_id, at DESC, session_id DESC);
CREATE INDEX forum_replies_session ON forum_replies (session_id);
CREATE TABLE forum_models (
  model text NOT NULL,
  session_id bigint NOT NULL REFERENCES sessions,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (model, session_id)
);
CREATE INDEX forum_models_newest ON forum_models (model, at DESC, session_id DESC);
-- What somebody has looked at.
CREATE TABLE forum_visits (
  user_id bigint NOT NULL REFERENCES users,
  session_id bigint NOT NULL REFERENCES sessions,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, session_id)
);
CREATE INDEX forum_visits_newest ON forum_visits (user_id, at DESC, session_id DESC);

INSERT INTO forum_replies (user_id, session_id, at)
  SELECT h.user_id, h.session_id, max(h.created_at) FROM history h
  JOIN sessions s ON s.id = h.session_id AND s.type = 2
  WHERE h.prev_id <> 0 GROUP BY 1, 2;
INSERT INTO forum_models (model, session_id, at)
  SELECT h.model, h.session_id, max(h.created_at) FROM history h
  JOIN sessions s ON s.id = h.session_id AND s.type = 2
  WHERE h.model <> '' GROUP BY 1, 2;

-- What a message to people said before it was changed.
CREATE TABLE message_edits (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  history_id bigint NOT NULL REFERENCES history ON DELETE CASCADE,
  title text NOT NULL,
  human text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX message_edits_message ON message_edits (history_id, id DESC);

-- Pictures that the text of a message to people shows or showed, by their keys: they stay as long as
-- the message does.
CREATE TABLE message_images (
  key text NOT NULL,
  history_id bigint NOT NULL REFERENCES history ON DELETE CASCADE,
  PRIMARY KEY (key, history_id)
);
CREATE INDEX message_images_message ON message_images (history_id);
INSERT INTO message_images (key, history_id)
  SELECT DISTINCT found[1], h.id FROM history h
  JOIN sessions s ON s.id = h.session_id AND s.type = 2,
    regexp_matches(h.human, '/files/([0-9a-f]{40})\.(?:png|jpg)', 'g') found;

-- What somebody is told: that they were answered, spoken to, and so on. Of one kind and session a
-- person has at most one that is unread: it counts.
CREATE TABLE news (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  kind text NOT NULL,
  session_id bigint NOT NULL REFERENCES sessions,
  history_id bigint,
  actor_id bigint NOT NULL REFERENCES users,
  count integer NOT NULL DEFAULT 1,
  excerpt text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  read_at timestamptz
);
CREATE UNIQUE INDEX news_unread ON news (user_id, session_id, kind) WHERE read_at IS NULL;
CREATE INDEX news_newest ON news (user_id, created_at DESC, id DESC);
CREATE INDEX news_age ON news (created_at);

CREATE TABLE reports (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  session_id bigint NOT NULL REFERENCES sessions,
  history_id bigint NOT NULL DEFAULT 0,
  reason text NOT NULL,
  note text NOT NULL DEFAULT '',
  -- What was reported, as it was then.
  excerpt text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  resolved_by bigint REFERENCES users,
  removed boolean NOT NULL DEFAULT false
);
-- Each reports a thing once, until it was looked at.
CREATE UNIQUE INDEX reports_open ON reports (session_id, history_id, user_id) WHERE resolved_at IS NULL;
CREATE INDEX reports_queue ON reports (id DESC) WHERE resolved_at IS NULL;
CREATE INDEX reports_of_person ON reports (user_id, created_at DESC);

-- The search marks what is in the forum from now on: all of it is put in again.
INSERT INTO search_queue (history_id)
  SELECT h.id FROM history h JOIN sessions s ON s.id = h.session_id
  WHERE s.type = 2 AND NOT s.private AND s.deleted_at IS NULL AND h.state <> 'streaming' ORDER BY h.id;
