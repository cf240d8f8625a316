-- What this site is called at a server of tools that registers nobody by itself: its person entered it.
-- The secret is sealed as the server's token is.
ALTER TABLE tool_servers
  ADD COLUMN client_id text NOT NULL DEFAULT '',
  ADD COLUMN client_secret_encrypted bytea;
