-- Where the lines stand on pages whose words were read off their picture: they are marked on it.
CREATE TABLE knowledge_pages (
  file_id bigint NOT NULL REFERENCES training_files(id) ON DELETE CASCADE,
  -- 0: the file is a picture itself.
  page integer NOT NULL,
  -- Degrees by which the page is turned so that its lines are level.
  angle real NOT NULL,
  -- Each { text, x, y, width, height }, in shares of the page's sides.
  lines jsonb NOT NULL,
  PRIMARY KEY (file_id, page)
);
