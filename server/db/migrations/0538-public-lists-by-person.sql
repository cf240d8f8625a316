-- The public list looks at whose the newest sessions are: by the index alone.
DROP INDEX sessions_public;
CREATE INDEX sessions_public ON sessions (updated_at DESC, id DESC) INCLUDE (user_id)
  WHERE deleted_at IS NULL AND NOT private AND prompt <> '';
-- Whose name is told of who has shown themselves, by a comment too.
CREATE INDEX app_comments_of_person ON app_comments (user_id);
