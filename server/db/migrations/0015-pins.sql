-- Sessions that a person keeps at the top of their own list.
CREATE TABLE pins (
  user_id bigint NOT NULL REFERENCES users,
  session_id bigint NOT NULL REFERENCES sessions,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, session_id)
);
