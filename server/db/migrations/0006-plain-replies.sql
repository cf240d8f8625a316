-- A reply is stored again each second while it is written: compressing it each time took more of the
-- processor than all else that the database does for it.
ALTER TABLE history
  ALTER COLUMN ai SET STORAGE EXTERNAL,
  ALTER COLUMN reasoning SET STORAGE EXTERNAL;
