-- Browsers that take Web Push.
CREATE TABLE push_devices (
  device uuid PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  -- The login that it was registered with: when that ends, so do its pushes.
  jti uuid NOT NULL,
  endpoint text NOT NULL UNIQUE,
  p256dh text NOT NULL,
  auth text NOT NULL,
  -- When the browser last said that it is still there.
  seen_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX push_devices_of_person ON push_devices (user_id);

-- What a browser whose page is out of sight wants to hear of, until it is told.
CREATE TABLE watched_waits (
  device uuid NOT NULL REFERENCES push_devices ON DELETE CASCADE,
  kind text NOT NULL,
  ref text NOT NULL,
  -- A process is telling it, or it is to be tried again, until then left alone by all others.
  claimed_until timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (device, kind, ref)
);
CREATE INDEX watched_waits_of_thing ON watched_waits (kind, ref);
