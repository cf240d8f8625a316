-- What a scenario gives, shown before one begins, and what those who used it think of it.
ALTER TABLE scenarios ADD COLUMN sample text NOT NULL DEFAULT '';
CREATE TABLE scenario_ratings (
  scenario_id bigint NOT NULL REFERENCES scenarios (id) ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users (id),
  stars smallint NOT NULL CHECK (stars BETWEEN 1 AND 5),
  PRIMARY KEY (scenario_id, user_id)
);
CREATE INDEX scenario_ratings_user ON scenario_ratings (user_id);
CREATE TRIGGER refuse_the_gone BEFORE INSERT ON scenario_ratings
  FOR EACH ROW EXECUTE FUNCTION refuse_the_gone();
