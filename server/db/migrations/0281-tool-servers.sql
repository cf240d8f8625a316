-- Servers of tools that speak MCP: everybody's without an owner, else a person's own.
CREATE TABLE tool_servers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key uuid NOT NULL UNIQUE,
  user_id bigint REFERENCES users (id) ON DELETE CASCADE,
  name text NOT NULL,
  url text NOT NULL,
  header text NOT NULL DEFAULT 'Authorization',
  secret_encrypted bytea,
  enabled boolean NOT NULL DEFAULT true,
  last_error text NOT NULL DEFAULT '',
  last_ok_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tool_servers_of ON tool_servers (user_id);
-- What they offer, as they told it last. A tool is on only as it was when somebody agreed to it.
CREATE TABLE tool_server_tools (
  server_id bigint NOT NULL REFERENCES tool_servers (id) ON DELETE CASCADE,
  name text NOT NULL,
  description text NOT NULL,
  parameters jsonb NOT NULL,
  digest text NOT NULL,
  agreed_digest text NOT NULL DEFAULT '',
  sort integer NOT NULL DEFAULT 0,
  PRIMARY KEY (server_id, name)
);
