-- Files on their way in, piece by piece, whatever they are for. What was on its way begins anew.
DROP TABLE training_uploads;

CREATE TABLE file_uploads (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users(id),
  -- What the person's device calls it: two persons may choose the same.
  uuid uuid NOT NULL,
  -- Bytes of the whole, and of what is here.
  size bigint NOT NULL,
  received bigint NOT NULL DEFAULT 0,
  -- When a call took it.
  used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (user_id, uuid)
);

CREATE TABLE file_pieces (
  upload_id bigint NOT NULL REFERENCES file_uploads(id) ON DELETE CASCADE,
  -- Bytes before it.
  at bigint NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (upload_id, at)
);
