-- A person's page for managers counts the messages of all their sessions: by the index alone, without
-- a look at each session.
DROP INDEX sessions_month;
CREATE INDEX sessions_month ON sessions (user_id, created_at) INCLUDE (id);
