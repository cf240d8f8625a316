-- Apps that managers publish: their versions with the files, what people say of them, and who may
-- download them.
CREATE TABLE apps (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title text NOT NULL,
  type text NOT NULL DEFAULT '',
  -- Who offers it; empty: the service itself.
  source text NOT NULL DEFAULT '',
  developer text NOT NULL DEFAULT '',
  -- Cents; 0: free.
  price integer NOT NULL DEFAULT 0 CHECK (price >= 0),
  cover_image_url text NOT NULL DEFAULT '',
  images jsonb NOT NULL DEFAULT '[]',
  md_description text NOT NULL DEFAULT '',
  -- Shown as long as nobody has rated it, in halves.
  first_rating smallint NOT NULL DEFAULT 0 CHECK (first_rating BETWEEN 0 AND 10),
  close_comment boolean NOT NULL DEFAULT false,
  state text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'published', 'down')),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz
);
CREATE INDEX apps_shown ON apps (published_at DESC) WHERE state = 'published';

CREATE TABLE app_versions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id bigint NOT NULL REFERENCES apps ON DELETE CASCADE,
  version text NOT NULL,
  description text NOT NULL DEFAULT '',
  -- Empty: there is no file yet.
  file_key text NOT NULL DEFAULT '',
  file_name text NOT NULL DEFAULT '',
  code_size bigint NOT NULL DEFAULT 0,
  sha256 text NOT NULL DEFAULT '',
  -- A virus scanner looked at the file and found nothing.
  scanned boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (app_id, version)
);
CREATE INDEX app_versions_of_app ON app_versions (app_id, id DESC);

CREATE TABLE app_comments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id bigint NOT NULL REFERENCES apps ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users,
  version_id bigint REFERENCES app_versions ON DELETE SET NULL,
  -- In halves.
  rating smallint NOT NULL CHECK (rating BETWEEN 0 AND 10),
  content text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  edited_at timestamptz,
  UNIQUE (app_id, user_id)
);
CREATE INDEX app_comments_of_app ON app_comments (app_id, id DESC);

CREATE TABLE app_reports (
  comment_id bigint NOT NULL REFERENCES app_comments ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users,
  reason text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (comment_id, user_id)
);

-- The right to download: one row an order, and one for whoever took it while it was free.
CREATE TABLE app_purchases (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id bigint NOT NULL REFERENCES apps ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users,
  order_id bigint UNIQUE REFERENCES orders,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
CREATE INDEX app_purchases_of_person ON app_purchases (user_id, app_id);
CREATE UNIQUE INDEX app_purchases_free ON app_purchases (app_id, user_id) WHERE order_id IS NULL;

-- Links that were used: each begins one download, and goes on with it for a while.
CREATE TABLE app_downloads (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  nonce uuid NOT NULL UNIQUE,
  app_id bigint NOT NULL REFERENCES apps ON DELETE CASCADE,
  version_id bigint NOT NULL REFERENCES app_versions ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users,
  ip text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX app_downloads_of_app ON app_downloads (app_id);
CREATE INDEX orders_of_subject ON orders (kind, subject) WHERE subject <> '';
