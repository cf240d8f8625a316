-- Every own picture that a message names in what it asks for, wherever in it: sent along, started
-- from, referred to. Its file stays as long as the message does.
CREATE FUNCTION images_of_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO message_images (key, history_id)
  SELECT DISTINCT named.parts[1], NEW.id
  FROM regexp_matches(NEW.request::text, '/files/([0-9a-f]{40})\.(?:png|jpg)', 'g') AS named (parts)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER images_of_request AFTER INSERT OR UPDATE OF request ON history
  FOR EACH ROW WHEN (NEW.request IS NOT NULL) EXECUTE FUNCTION images_of_request();

INSERT INTO message_images (key, history_id)
SELECT DISTINCT named.parts[1], h.id
FROM history h,
  regexp_matches(h.request::text, '/files/([0-9a-f]{40})\.(?:png|jpg)', 'g') AS named (parts)
WHERE h.request IS NOT NULL
ON CONFLICT DO NOTHING;
