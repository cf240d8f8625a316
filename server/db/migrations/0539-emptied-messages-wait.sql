-- What an account leaves is emptied by the ten thousand: for the index it waits behind single messages.
CREATE OR REPLACE FUNCTION queue_changed_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_queue (history_id, bulk)
    VALUES (NEW.id, coalesce(current_setting('queqiao.bulk', true), '') = 'on');
  PERFORM pg_notify('search_queue', '');
  RETURN NULL;
END $$;
