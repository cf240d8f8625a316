-- The backup that is being made, by which process, and how the last one failed. One row.
CREATE TABLE backup_plan (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  begun_at timestamptz,
  instance integer,
  error text NOT NULL DEFAULT ''
);
INSERT INTO backup_plan DEFAULT VALUES;
