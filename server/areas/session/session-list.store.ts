import { and, desc, eq, gt, inArray, sql, type SQL } from 'drizzle-orm';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { favorites } from '#server/db/schema.ts';

/** Whose sessions a list shows: what is public, a person's own, or those they marked. */
export type ListScope =
  | { channel: 'public' }
  | { channel: 'private' | 'favorites'; userId: number };

export interface SessionFilter {
  /** Sessions of this person. */
  userId?: number;
  model?: string;
  scenarioId?: number;
  /** All in the title, in lower case as far as ASCII goes. */
  titleWords?: readonly string[];
}

/** What everybody may see; written as the partial index has it. */
const isPublic = sql`s.deleted_at IS NULL AND NOT s.private AND s.prompt <> ''`;

/** Of so many public ones, the newest, it is looked at whose they are; of more where a list reaches further. */
const rankedPublic = 2000;

/**
 * The sessions of a scope as `id`, `at`, newest first; `at` is what they are ordered by, behind
 * `on_top`: a person's own pinned ones, and of the public ones the newest few of each person, so that
 * nobody buries the others.
 */
const scopeOf = (scope: ListScope, filter: SessionFilter, window: number): SQL => {
  const ofScenario =
    filter.scenarioId === undefined ? sql`` : sql`AND s.scenario_id = ${filter.scenarioId}`;
  // In one's own list everything is one's own.
  const byOne = filter.userId !== undefined && scope.channel !== 'private';
  const ofUser = byOne ? sql`AND s.user_id = ${filter.userId}` : sql``;
  const end = sql`${ofScenario} ${ofUser} ORDER BY at DESC, id DESC LIMIT ${window}`;
  if (scope.channel === 'public')
    return byOne
      ? sql`SELECT s.id, s.updated_at AS at, false AS on_top FROM sessions s WHERE ${isPublic} ${end}`
      : sql`
      SELECT id, at, row_number() OVER (PARTITION BY user_id ORDER BY at DESC, id DESC)
        <= ${limits.openedAhead} AS on_top
      FROM (SELECT s.id, s.updated_at AS at, s.user_id FROM sessions s
        WHERE ${isPublic} ${ofScenario} ORDER BY at DESC, id DESC LIMIT ${Math.max(window, rankedPublic)}) newest
      ORDER BY on_top DESC, at DESC, id DESC LIMIT ${window}`;
  const me = scope.userId;
  if (scope.channel === 'private')
    return sql`
      SELECT mine.*, mine.id IN (SELECT session_id FROM pins WHERE user_id = ${me}) AS on_top
      FROM (
        (SELECT s.id, s.updated_at AS at FROM sessions s
          WHERE s.deleted_at IS NULL AND s.user_id = ${me} AND NOT s.temporary ${end})
        UNION ALL
        (SELECT s.id, s.updated_at AS at FROM friends f JOIN sessions s ON s.id = f.session_id
          WHERE (f.low_user_id = ${me} OR f.high_user_id = ${me})
            AND s.deleted_at IS NULL AND s.user_id <> ${me} AND s.prompt <> '' ${end})
      ) mine ORDER BY at DESC, id DESC LIMIT ${window}`;
  return sql`
    SELECT s.id, m.at, false AS on_top FROM (
        SELECT session_id, max(created_at) AS at FROM favorites
        WHERE user_id = ${me} GROUP BY session_id
      ) m JOIN sessions s ON s.id = m.session_id LEFT JOIN friends f ON f.session_id = s.id
      WHERE s.deleted_at IS NULL AND NOT s.temporary AND (NOT s.private OR s.user_id = ${me}
        OR f.low_user_id = ${me} OR f.high_user_id = ${me}) ${end}`;
};

/**
 * The numbers of a page of sessions, those on top and then newest first (`at` in ms is what that goes by), among the newest `window` of their scope, and
 * how many of those fit. Both cost the same whether the database holds a thousand sessions or
 * millions.
 */
export const listSessions = async (
  db: Executor,
  scope: ListScope,
  filter: SessionFilter,
  { window, offset, limit }: { window: number; offset: number; limit: number },
): Promise<{ found: { id: number; at: number }[]; total: number }> => {
  const newest = scopeOf(scope, filter, window);
  const words = filter.titleWords ?? [];
  const conditions = [
    ...(filter.model === undefined ? [] : [sql`s.model = ${filter.model}`]),
    // Only ASCII is made small, on both sides.
    ...words.map((word) => sql`strpos(lower(s.prompt COLLATE "C"), ${word}) > 0`),
  ];
  const fitting =
    conditions.length === 0
      ? newest
      : sql`SELECT newest.* FROM (${newest}) newest JOIN sessions s ON s.id = newest.id
          WHERE ${sql.join(conditions, sql` AND `)}`;
  const { rows } = await db.execute<{ total: number; id: number | null; at: number | null }>(sql`
    WITH fit AS MATERIALIZED (${fitting})
    SELECT counted.total, chosen.id::float8,
      extract(epoch FROM chosen.at)::float8 * 1000 AS at
    FROM (SELECT count(*)::int AS total FROM fit) counted
    LEFT JOIN (SELECT * FROM fit ORDER BY on_top DESC, at DESC, id DESC OFFSET ${offset} LIMIT ${limit}) chosen
      ON true
    ORDER BY chosen.on_top DESC, chosen.at DESC, chosen.id DESC`);
  return {
    found: rows.flatMap(({ id, at }) => (id === null || at === null ? [] : [{ id, at }])),
    total: rows[0]?.total ?? 0,
  };
};

/** The message that somebody marked last in each of these sessions; those marked only as a whole are left out. */
export const lastMarks = async (
  db: Executor,
  userId: number,
  sessionIds: readonly number[],
): Promise<{ sessionId: number; historyId: number }[]> => {
  if (sessionIds.length === 0) return [];
  return db
    .selectDistinctOn([favorites.sessionId], {
      sessionId: favorites.sessionId,
      historyId: favorites.historyId,
    })
    .from(favorites)
    .where(
      and(
        eq(favorites.userId, userId),
        inArray(favorites.sessionId, [...sessionIds]),
        gt(favorites.historyId, 0),
      ),
    )
    .orderBy(favorites.sessionId, desc(favorites.createdAt), desc(favorites.historyId));
};
