-- Networks are kept as the keyed digest that guests' are; empty: it cannot be told.
ALTER TABLE invites ADD COLUMN network text NOT NULL DEFAULT '';
ALTER TABLE invited ADD COLUMN network text NOT NULL DEFAULT '',
  ADD COLUMN credited_at timestamptz,
  -- When it is looked at again whether they were active on enough days; null: nothing is waited for.
  ADD COLUMN look_at timestamptz;
UPDATE invited SET credited_at = created_at WHERE tokens > 0;
CREATE INDEX invited_network ON invited (network, created_at) WHERE network <> '';
CREATE INDEX invited_look ON invited (look_at) WHERE look_at IS NOT NULL;
