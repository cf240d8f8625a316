-- no transaction
-- The oldest answers of a person are looked for among those that are counted.
DROP INDEX IF EXISTS idempotency_counted;
CREATE INDEX CONCURRENTLY idempotency_counted ON idempotency (user_id, created_at) WHERE bytes > 0;
