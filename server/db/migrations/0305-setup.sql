-- How far the owner of a new site is on the path of its first start, and what was chosen there.
-- One row.
CREATE TABLE setup (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  -- Who may make an account, and whether one may ask without any.
  people text NOT NULL DEFAULT 'open' CHECK (people IN ('open', 'invited', 'closed')),
  guests boolean NOT NULL DEFAULT true,
  -- false: nobody can pay, whatever the settings of the server say.
  payment boolean NOT NULL DEFAULT true,
  -- Steps that the owner said are done.
  settled text[] NOT NULL DEFAULT '{}',
  ended_at timestamptz,
  -- The hash of the password that was made up for the first owner; NULL: they chose it.
  first_hash text,
  -- SHA-256 of the code of the link that signs the first owner in once.
  entry_hash text,
  entry_until timestamptz,
  entered_at timestamptz
);
-- A site that has an owner already was begun long ago.
INSERT INTO setup (ended_at)
  SELECT CASE WHEN EXISTS (SELECT FROM users WHERE owner) THEN now() END;
