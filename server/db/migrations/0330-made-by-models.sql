-- Whether a model made an image that somebody brought, and how that is known: its file says so, whoever
-- brought it says so, or it bears the marks of programs that draw. Empty: nothing says it.
ALTER TABLE images ADD COLUMN made text NOT NULL DEFAULT '';
