-- Whether people are offered a server's resources and prompts, too: its owner chose that.
ALTER TABLE tool_servers ADD COLUMN more boolean NOT NULL DEFAULT false;
