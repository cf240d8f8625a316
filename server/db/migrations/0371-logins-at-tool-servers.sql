-- What a server of tools gave to whoever signed in there (OAuth), and a sign-in that is on its way; both
-- sealed as its secret is. `login`: '' it asks for none, 'wanted', 'given', or 'lost' once it is refused.
ALTER TABLE tool_servers
  ADD COLUMN login text NOT NULL DEFAULT '',
  ADD COLUMN login_encrypted bytea,
  ADD COLUMN pending_encrypted bytea;
