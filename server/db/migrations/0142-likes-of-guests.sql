-- A guest's like is a mark of their own and counts for nothing: there are as many guests as somebody likes.
WITH theirs AS (
  SELECT l.history_id, count(*) AS likes FROM likes l JOIN users u ON u.id = l.user_id
  WHERE u.guest AND u.merged_into IS NULL GROUP BY l.history_id
), messages AS (
  UPDATE history SET like_count = greatest(0, like_count - theirs.likes)
  FROM theirs WHERE history.id = theirs.history_id
  RETURNING history.session_id, theirs.likes
)
UPDATE sessions SET like_count = greatest(0, like_count - messages.likes)
FROM (SELECT session_id, sum(likes) AS likes FROM messages GROUP BY session_id) messages
WHERE sessions.id = messages.session_id;
