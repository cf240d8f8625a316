-- The process that works on a request whose key it has taken (see instances); null: it is done. A key
-- is free again once the process that took it lives no more.
ALTER TABLE idempotency ADD COLUMN claimed_by integer;
