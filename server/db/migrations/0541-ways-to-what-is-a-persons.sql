-- no transaction
-- An account that ends is emptied table by table: what is its person's is found without reading what is others'.
DROP INDEX IF EXISTS history_of_person;
CREATE INDEX CONCURRENTLY history_of_person ON history (user_id);
DROP INDEX IF EXISTS images_of_owner;
CREATE INDEX CONCURRENTLY images_of_owner ON images (user_id);
DROP INDEX IF EXISTS users_merged;
CREATE INDEX CONCURRENTLY users_merged ON users (merged_into) WHERE merged_into IS NOT NULL;
DROP INDEX IF EXISTS news_of_actor;
CREATE INDEX CONCURRENTLY news_of_actor ON news (actor_id);
DROP INDEX IF EXISTS shares_of_person;
CREATE INDEX CONCURRENTLY shares_of_person ON shares (user_id);
DROP INDEX IF EXISTS model_stats_of_person;
CREATE INDEX CONCURRENTLY model_stats_of_person ON model_stats (user_id);
DROP INDEX IF EXISTS prompt_marks_of_prompt;
CREATE INDEX CONCURRENTLY prompt_marks_of_prompt ON prompt_marks (prompt_id);
DROP INDEX IF EXISTS idempotency_of_token;
CREATE INDEX CONCURRENTLY idempotency_of_token ON idempotency (token_user_id)
  WHERE token_user_id IS NOT NULL;
