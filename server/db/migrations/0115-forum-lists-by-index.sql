-- What the lists of the forum filter by stands in the index that they are read from, and what is
-- marked elsewhere is looked up in a small one: a list is counted without its rows being read.
DROP INDEX forum_hot;
CREATE INDEX forum_hot ON sessions (forum_heat(reply_count, like_count, created_at) DESC, id DESC)
  INCLUDE (group_id, user_id)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '';
DROP INDEX forum_asker;
CREATE INDEX forum_asker ON sessions (user_id, updated_at DESC, id DESC)
  INCLUDE (private, group_id)
  WHERE type = 2 AND deleted_at IS NULL AND prompt <> '';
DROP INDEX forum_answered;
CREATE INDEX forum_answered ON sessions (updated_at DESC, id DESC) INCLUDE (group_id, user_id)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '' AND accepted_id IS NOT NULL;
DROP INDEX forum_unanswered;
CREATE INDEX forum_unanswered ON sessions (updated_at DESC, id DESC) INCLUDE (group_id, user_id)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '' AND accepted_id IS NULL;
DROP INDEX forum_essence;
CREATE INDEX forum_essence ON sessions (updated_at DESC, id DESC) INCLUDE (group_id, user_id)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '' AND essence;
CREATE INDEX forum_shown ON sessions (id)
  WHERE type = 2 AND NOT private AND deleted_at IS NULL AND prompt <> '';
