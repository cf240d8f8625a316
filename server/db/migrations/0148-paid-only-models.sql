-- Whoever never paid cannot use it; only managers can; and prices of its sizes by their codes.
ALTER TABLE models ADD COLUMN paid_only boolean NOT NULL DEFAULT false,
  ADD COLUMN managers_only boolean NOT NULL DEFAULT false,
  ADD COLUMN size_rates jsonb;
-- The family that costs 30, as it is known by its names.
UPDATE models SET paid_only = true WHERE type = 0 AND vip_excluded AND factor = 30;
