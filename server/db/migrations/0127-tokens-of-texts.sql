-- How many tokens an attached text takes, as it was counted when it came: what goes along with a later
-- question is priced by it.
ALTER TABLE files ADD COLUMN tokens integer;
