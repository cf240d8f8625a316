-- Pictures are one kind of thing, drawn, uploaded, edited or taken from an import.
ALTER TABLE images
  ALTER COLUMN session_id DROP NOT NULL,
  ALTER COLUMN history_id DROP NOT NULL,
  ALTER COLUMN job_id DROP NOT NULL,
  ADD COLUMN origin text NOT NULL DEFAULT 'drawn'
    CHECK (origin IN ('drawn', 'uploaded', 'edited', 'imported')),
  -- What it was made from, and by which task (contract/image.ts `imageTask`); empty: by none.
  ADD COLUMN parent_id bigint,
  ADD COLUMN how text NOT NULL DEFAULT '',
  -- The ending of its address: jpg or png.
  ADD COLUMN type text NOT NULL DEFAULT 'png',
  -- Its owner shows it to nobody, whatever its session is.
  ADD COLUMN hidden boolean NOT NULL DEFAULT false;
CREATE INDEX images_of_parent ON images (parent_id, id DESC) WHERE parent_id IS NOT NULL;
CREATE INDEX images_uploaded ON images (user_id, id DESC)
  WHERE deleted_at IS NULL AND origin = 'uploaded';
CREATE INDEX images_liked ON images (liked_count DESC, id DESC)
  WHERE deleted_at IS NULL AND NOT hidden AND liked_count > 0;

INSERT INTO images (uuid, user_id, key, type, width, height, size, model, prompt, origin, created_at)
SELECT id, user_id, key, CASE mime WHEN 'image/png' THEN 'png' ELSE 'jpg' END, width, height, size,
  '', '', 'uploaded', created_at
FROM files WHERE kind = 'image' ORDER BY created_at, id;

-- The row in files is what an upload takes of its owner's room; once that is cleared away there is
-- nothing left to show, whoever clears it.
CREATE FUNCTION image_file_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE images SET deleted_at = coalesce(deleted_at, now()), key = ''
  WHERE key = OLD.key AND key <> '';
  RETURN NULL;
END $$;
CREATE TRIGGER image_file_removed AFTER DELETE ON files
  FOR EACH ROW WHEN (OLD.kind = 'image') EXECUTE FUNCTION image_file_removed();

-- What people think of a picture: 1 likes it, -1 does not; nobody has two votes.
CREATE TABLE image_votes (
  image_id bigint NOT NULL REFERENCES images,
  user_id bigint NOT NULL REFERENCES users,
  vote smallint NOT NULL CHECK (vote IN (1, -1)),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (image_id, user_id)
);
CREATE INDEX image_votes_lately ON image_votes (created_at) WHERE vote = 1;
