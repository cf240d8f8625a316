/**
 * Whether somebody has shown themselves to everybody: by a public session, an answer in the forum, a
 * scenario, a knowledge base or a comment. `column`: where the number of their account stands.
 */
const shownText = (column: string): string => `(
  EXISTS (SELECT FROM sessions own WHERE own.user_id = ${column}
    AND own.deleted_at IS NULL AND NOT own.private AND own.prompt <> '')
  OR EXISTS (SELECT FROM forum_replies r JOIN sessions asked ON asked.id = r.session_id
    WHERE r.user_id = ${column} AND asked.deleted_at IS NULL AND NOT asked.private)
  OR EXISTS (SELECT FROM scenarios made WHERE made.user_id = ${column}
    AND made.state = 'public' AND made.deleted_at IS NULL)
  OR EXISTS (SELECT FROM training_projects made WHERE made.user_id = ${column} AND NOT made.private)
  OR EXISTS (SELECT FROM app_comments said WHERE said.user_id = ${column}))`;

/**
 * The name of somebody whom another one has the number of: of whoever has shown themselves, or is
 * known to this one, and of an account that has ended. Otherwise no more than the number.
 * @param person the alias of the row of users
 * @param known a condition by which this one knows them
 */
export const knownName = (person: string, known: string): string =>
  `CASE WHEN ${person}.id IS NULL THEN NULL
    WHEN ${known} OR ${person}.erased_at IS NOT NULL OR ${shownText(`${person}.id`)}
    THEN ${person}.user_name ELSE '用户 ' || ${person}.id END`;
