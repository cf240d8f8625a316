-- Answers of the public API that are kept for repeats: all of a person's together are bounded.
ALTER TABLE idempotency ADD COLUMN bytes integer NOT NULL DEFAULT 0;
