-- Lists of people leave out who became another account: without that in the index each row is looked
-- up to be counted.
DROP INDEX users_guests;
DROP INDEX users_subscribers;
DROP INDEX users_disabled;
DROP INDEX users_managers;
CREATE INDEX users_listed ON users (id) WHERE merged_into IS NULL;
CREATE INDEX users_guests ON users (id) WHERE guest AND merged_into IS NULL;
CREATE INDEX users_subscribers ON users (id) WHERE subscribe > 0 AND merged_into IS NULL;
CREATE INDEX users_disabled ON users (id) WHERE disabled AND merged_into IS NULL;
CREATE INDEX users_managers ON users (id) WHERE manager AND merged_into IS NULL;

-- What was spent with each model on a day of China.
CREATE TABLE stat_models (
  day date NOT NULL,
  model text NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (day, model)
);
INSERT INTO stat_models (day, model, tokens)
  SELECT (created_at AT TIME ZONE 'Asia/Shanghai')::date, model, sum(deduct_tokens)
  FROM consumptions GROUP BY 1, 2;
