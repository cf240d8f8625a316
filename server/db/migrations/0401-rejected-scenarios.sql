-- Why a manager gave somebody's scenario back; empty: it was not, or it was changed since.
ALTER TABLE scenarios ADD COLUMN rejection text NOT NULL DEFAULT '';
