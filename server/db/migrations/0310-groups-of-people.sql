-- Groups of people: what they pay of each price, and which channels are open to them.
CREATE TABLE people_groups (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  -- Times each price.
  factor double precision NOT NULL DEFAULT 1 CHECK (factor > 0 AND factor <= 100),
  created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE users ADD COLUMN people_group bigint REFERENCES people_groups ON DELETE SET NULL;
-- What a service writes into its cache for a prompt, tokens taken per token; null: as the rest of it.
ALTER TABLE models ADD COLUMN written_factor double precision;
-- What the service says is left on the account of its key, in its own money, and since when.
ALTER TABLE channel_health
  ADD COLUMN balance double precision,
  ADD COLUMN balance_unit text NOT NULL DEFAULT '',
  ADD COLUMN balance_at timestamptz;
