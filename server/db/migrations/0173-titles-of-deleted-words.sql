-- Once a message is deleted a title made of its words is made anew; messages deleted before that was
-- so left theirs in links and lists. A title was made of itself, not typed, where its person was
-- billed for a question that begins so, or where it was cut as only the program cuts.
CREATE FUNCTION pg_temp.title_of(words text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN length(line) > 100 THEN left(line, 99) || '…' ELSE line END
  FROM (SELECT btrim(regexp_replace(left(words, 2000), '\s+', ' ', 'g')) AS line) one
$$;

UPDATE sessions s SET prompt = CASE
    WHEN first.id IS NULL THEN ''
    ELSE coalesce(nullif(pg_temp.title_of(coalesce(nullif(first.title, ''), first.human)), ''),
      '[图片或文件]') || made.mark
  END
FROM (
  SELECT id, regexp_replace(prompt, ' ·续$', '') AS title,
    CASE WHEN prompt LIKE '% ·续' THEN ' ·续' ELSE '' END AS mark
  FROM sessions
  WHERE deleted_at IS NULL AND prompt NOT IN ('', '[图片或文件]')
    AND NOT EXISTS (SELECT FROM friends f WHERE f.session_id = sessions.id)
) made
LEFT JOIN LATERAL (
  SELECT h.id, h.title, h.human FROM history h
  WHERE h.session_id = made.id AND h.shown ORDER BY h.id LIMIT 1
) first ON true
WHERE s.id = made.id
  AND NOT EXISTS (
    SELECT FROM history h WHERE h.session_id = made.id
      AND (pg_temp.title_of(h.title) = made.title
        OR strpos(pg_temp.title_of(h.human), rtrim(made.title, '…')) > 0)
  )
  AND (
    (length(made.title) = 100 AND made.title LIKE '%…')
    OR EXISTS (
      SELECT FROM consumptions c
      WHERE c.user_id = s.user_id AND pg_temp.title_of(c.human) = made.title
    )
  );

DROP FUNCTION pg_temp.title_of(text);
