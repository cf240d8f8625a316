-- Who took an image without the words that a model made it, having agreed to say so themselves. Kept
-- for six months.
CREATE TABLE unmarked_downloads (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL,
  image_key text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (user_id, image_key)
);
CREATE INDEX unmarked_downloads_by_time ON unmarked_downloads (created_at);
