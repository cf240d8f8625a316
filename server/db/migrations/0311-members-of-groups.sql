-- no transaction
DROP INDEX IF EXISTS users_of_group;
CREATE INDEX CONCURRENTLY users_of_group ON users (people_group) WHERE people_group IS NOT NULL;
