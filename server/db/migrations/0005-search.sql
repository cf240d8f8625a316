-- What messages are found by (server/session/search-grams.ts): for each number the messages that have
-- it, so that a search reads a few rows and need not weigh one list of a million against another.
DROP TABLE message_search;

-- Messages that came last; now and then they all go over into search_postings.
CREATE TABLE search_fresh (
  history_id bigint PRIMARY KEY,
  grams integer[] NOT NULL
);
ALTER TABLE search_fresh ALTER COLUMN grams SET STATISTICS 0;

-- A segment is 16384 numbers of messages. `ids` says which of them: their places in it as two bytes
-- each, in no order, or a bit for each place (2048 bytes) where that is shorter. A message that was
-- deleted or changed may stay here: its text decides.
CREATE TABLE search_postings (
  gram integer NOT NULL,
  segment integer NOT NULL,
  ids bytea NOT NULL,
  PRIMARY KEY (gram, segment)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE search_postings ALTER COLUMN ids SET STORAGE PLAIN,
  ALTER COLUMN ids SET STATISTICS 0;

-- What is in `ids` together with the places of `added`, of which there are less than 1024.
CREATE FUNCTION search_joined(ids bytea, added bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  bits bytea := ids;
  rest bytea := added;
BEGIN
  IF length(ids) < 2048 THEN
    IF length(ids) + length(added) < 2048 THEN RETURN ids || added; END IF;
    bits := decode(repeat('00', 2048), 'hex');
    rest := ids || added;
  END IF;
  FOR at IN 0 .. length(rest) / 2 - 1 LOOP
    bits := set_bit(bits, get_byte(rest, 2 * at) * 256 + get_byte(rest, 2 * at + 1), 1);
  END LOOP;
  RETURN bits;
END $$;

-- All is put in again, what is new first. The server goes on with that while people use it.
TRUNCATE search_queue;
INSERT INTO search_queue (history_id)
  SELECT id FROM history WHERE state <> 'streaming' ORDER BY id DESC;
