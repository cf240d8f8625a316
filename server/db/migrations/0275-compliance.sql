-- What managers set of the rules for services that make content. One row.
CREATE TABLE compliance (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  settings jsonb NOT NULL DEFAULT '{}'
);
INSERT INTO compliance DEFAULT VALUES;

-- What the label of a made file calls it (ProduceID), and who had it made when by which model. The
-- file itself names nobody.
CREATE TABLE labels (
  id text PRIMARY KEY,
  user_id bigint,
  kind text NOT NULL,
  model text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX labels_of_person ON labels (user_id);
