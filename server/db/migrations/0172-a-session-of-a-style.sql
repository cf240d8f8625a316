-- The key of the trained style that a session of images was begun with; empty: none.
ALTER TABLE sessions ADD COLUMN style_key text NOT NULL DEFAULT '';
