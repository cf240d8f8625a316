-- GREATEST leaves NULL out, so that a key without a bound of money had no room, and was served for
-- nothing: without such a bound there is no row to take the least of, and the room is NULL.
CREATE OR REPLACE FUNCTION api_call_room(the_id uuid, the_key bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM api_keys WHERE id = the_key FOR NO KEY UPDATE;
  RETURN (SELECT greatest(0, min(room)) FROM api_key_room(the_key, the_id)
          WHERE unit = 'taken' HAVING count(*) > 0);
END
$$;
