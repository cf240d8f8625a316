-- What `npm run demo` put here: only that is taken away by `npm run demo -- --remove`. All else of
-- the demo belongs to its people.
CREATE TABLE demo_things (
  kind text NOT NULL CHECK (kind IN ('users', 'apps', 'notices')),
  id bigint NOT NULL,
  PRIMARY KEY (kind, id)
);
