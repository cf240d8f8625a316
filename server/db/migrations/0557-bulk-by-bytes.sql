-- A few very long messages of one act cost the index as much as hundreds of short ones, and an import
-- brings them a part at a time: they wait behind all else, too. What they take on disk says how much
-- there is to be indexed.
CREATE OR REPLACE FUNCTION queue_added_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id, bulk)
    SELECT id, count(*) OVER () > 200
      OR sum(pg_column_size(human) + pg_column_size(ai)) OVER () > 1000000
      OR EXISTS (SELECT FROM sessions s WHERE s.id = added.session_id AND s.imported)
    FROM added WHERE state <> 'streaming';
  IF FOUND THEN PERFORM pg_notify('search_queue', ''); END IF;
  RETURN NULL;
END $$;
