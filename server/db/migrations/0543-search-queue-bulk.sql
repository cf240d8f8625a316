-- What one act adds by the hundred, as an import or an opened session does, is indexed behind all else.
ALTER TABLE search_queue ADD COLUMN bulk boolean NOT NULL DEFAULT false;
CREATE INDEX search_queue_order ON search_queue (bulk, id);

CREATE OR REPLACE FUNCTION queue_added_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id, bulk)
    SELECT id, count(*) OVER () > 200 FROM added WHERE state <> 'streaming';
  IF FOUND THEN PERFORM pg_notify('search_queue', ''); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION queue_removed_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id, bulk) SELECT id, count(*) OVER () > 200 FROM removed;
  IF FOUND THEN PERFORM pg_notify('search_queue', ''); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION queue_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id, bulk)
    SELECT id, count(*) OVER () > 200 FROM history
    WHERE session_id = NEW.id AND state <> 'streaming';
  IF FOUND THEN PERFORM pg_notify('search_queue', ''); END IF;
  RETURN NULL;
END $$;
