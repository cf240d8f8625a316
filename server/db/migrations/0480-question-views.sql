-- How many people have looked at a question of the forum. A table of its own: the row of the session
-- itself is what everything else waits for.
CREATE TABLE question_views (
  session_id bigint PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  people integer NOT NULL
);
INSERT INTO question_views (session_id, people)
  SELECT v.session_id, count(*) FROM forum_visits v JOIN sessions s ON s.id = v.session_id
  GROUP BY v.session_id;
