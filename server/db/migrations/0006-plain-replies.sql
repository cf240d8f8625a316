-- A reply is stored again each second while it is written: compressing it each time was a large part
-- of the processor time that the database took for it.
ALTER TABLE history
  ALTER COLUMN ai SET STORAGE EXTERNAL,
  ALTER COLUMN reasoning SET STORAGE EXTERNAL;
