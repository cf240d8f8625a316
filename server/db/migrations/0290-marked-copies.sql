-- Images with the words that a model made them, which lie in the storage beside the images. They take
-- nobody's room: they go after a while, and the oldest before that where there are many.
CREATE TABLE marked_copies (
  key text PRIMARY KEY,
  type text NOT NULL,
  size bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX marked_copies_by_time ON marked_copies (created_at);
