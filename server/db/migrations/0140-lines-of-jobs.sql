-- Who waits with a job: an account, or all guests of a network as one. Those of whom fewer wait come
-- first (turn), and guests never hold the last place, so that no number of them keeps a person waiting.
ALTER TABLE jobs
  ADD COLUMN line text NOT NULL DEFAULT '',
  ADD COLUMN guest boolean NOT NULL DEFAULT false,
  ADD COLUMN turn integer NOT NULL DEFAULT 0;
