-- What was counted by days of China: figures over long times do not add up every five minutes.
CREATE TABLE stat_days (
  metric text NOT NULL,
  day date NOT NULL,
  value bigint NOT NULL,
  PRIMARY KEY (metric, day)
);
INSERT INTO stat_days (metric, day, value)
  SELECT metric, (at AT TIME ZONE 'Asia/Shanghai')::date, sum(value) FROM stat_steps GROUP BY 1, 2;

-- Managers find people by any part of a name: one, two or three letters of it after another. A
-- Chinese name is often of two, for which pg_trgm has no answer, and in collation C of none.
CREATE FUNCTION name_grams(account text, user_name text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(DISTINCT substr(name, at, size))
  FROM (SELECT lower(coalesce(account, '') || E'\n' || user_name) AS name) names,
    generate_series(1, length(name)) at, generate_series(1, 3) size
$$;
-- What is among the grams of every name that holds a text.
CREATE FUNCTION sought_grams(sought text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(DISTINCT substr(lower(sought), at, 3))
  FROM generate_series(1, greatest(1, length(sought) - 2)) at
$$;
CREATE INDEX users_by_name ON users USING gin (name_grams(account, user_name))
  WITH (fastupdate = off);
