-- 未成年人模式 of an account: a guardian's code opens and ends it. Rows stay when it ends, so that a
-- code that was set is asked for again.
CREATE TABLE minors (
  user_id bigint PRIMARY KEY,
  active boolean NOT NULL,
  -- scrypt, `salt:hash` in hexadecimal.
  code text NOT NULL,
  -- Minutes of the day in China's time between which it may be used.
  from_minute integer NOT NULL,
  to_minute integer NOT NULL,
  -- Of one day.
  minutes integer NOT NULL,
  used_on date NOT NULL DEFAULT '2000-01-01',
  used_seconds double precision NOT NULL DEFAULT 0,
  seen_at timestamptz NOT NULL DEFAULT now()
);
