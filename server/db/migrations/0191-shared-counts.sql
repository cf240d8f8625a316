-- What is limited by a time, counted for all processes together. Keys are digests: no address and
-- no person stands here. It may be lost: then the counting begins anew.
CREATE UNLOGGED TABLE shared_counts (
  key text PRIMARY KEY,
  points bigint NOT NULL,
  ends timestamptz NOT NULL
);
CREATE INDEX shared_counts_ends ON shared_counts (ends);
