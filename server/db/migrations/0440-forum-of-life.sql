-- A tenth group of the forum, where nobody uses it yet: elsewhere the groups are the managers' own.
INSERT INTO forum_groups (name, color, sort)
SELECT '生活', '#be123c', 75
WHERE NOT EXISTS (SELECT FROM sessions WHERE type = 2)
  AND NOT EXISTS (SELECT FROM forum_groups WHERE name = '生活');
