import { sql, type SQL } from 'drizzle-orm';
import type { ForumCategory } from '#contract/forum.ts';
import type { Executor } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import { suspendedText } from '#server/db/suspended.ts';

export interface ForumFilter {
  category?: ForumCategory | undefined;
  groupId?: number | undefined;
  /** Questions of this person. */
  userId?: number | undefined;
  /** Questions that this model answered. */
  model?: string | undefined;
}

/** What the forum shows; written as the partial indexes have it. */
const inForum = sql`s.type = 2 AND NOT s.private AND s.deleted_at IS NULL AND s.prompt <> ''`;
const newest = sql`s.updated_at DESC, s.id DESC`;

/** A condition with an index of its own, and the order that the index has. */
interface Way {
  from: SQL;
  where: SQL;
  order: SQL;
}

const usual = sql`sessions s`;
const marked = (table: SQL, key: SQL): Way => ({
  from: sql`${table} m JOIN sessions s ON s.id = m.session_id`,
  where: sql`${key} AND ${inForum}`,
  order: sql`m.at DESC, m.session_id DESC`,
});

const wayOf = (filter: ForumFilter, me: number): Way & { of?: keyof ForumFilter } => {
  const { category, groupId, userId, model } = filter;
  if (category !== undefined) return { of: 'category', ...wayOfCategory(category, me) };
  if (userId !== undefined)
    return {
      of: 'userId',
      from: usual,
      where: sql`s.user_id = ${userId} AND ${inForum}`,
      order: newest,
    };
  if (model !== undefined)
    return { of: 'model', ...marked(sql`forum_models`, sql`m.model = ${model}`) };
  const order = sql`s.pinned DESC, ${newest}`;
  return groupId === undefined
    ? { from: usual, where: inForum, order }
    : { of: 'groupId', from: usual, where: sql`${inForum} AND s.group_id = ${groupId}`, order };
};

const wayOfCategory = (category: ForumCategory, me: number): Way => {
  const ways: Record<ForumCategory, Way> = {
    hot: {
      from: usual,
      where: inForum,
      order: sql`forum_heat(s.reply_count, s.like_count, s.created_at) DESC, s.id DESC`,
    },
    mine: {
      from: usual,
      where: sql`s.user_id = ${me} AND s.type = 2 AND s.deleted_at IS NULL AND s.prompt <> ''
        AND s.id NOT IN (SELECT f.session_id FROM friends f
          WHERE f.low_user_id = ${me} OR f.high_user_id = ${me})`,
      order: newest,
    },
    replied: marked(sql`forum_replies`, sql`m.user_id = ${me}`),
    history: marked(sql`forum_visits`, sql`m.user_id = ${me}`),
    answered: { from: usual, where: sql`${inForum} AND s.accepted_id IS NOT NULL`, order: newest },
    unanswered: { from: usual, where: sql`${inForum} AND s.accepted_id IS NULL`, order: newest },
    essence: { from: usual, where: sql`${inForum} AND s.essence`, order: newest },
  };
  return ways[category];
};

/**
 * Of the filters those that hold within another one's list. Of its own way a filter has none: what
 * the index is of is not read again.
 */
const conditionsOf = (
  { category, groupId, userId, model }: ForumFilter,
  me: number,
  done?: keyof ForumFilter,
): SQL[] => [
  ...(groupId === undefined || done === 'groupId' ? [] : [sql`s.group_id = ${groupId}`]),
  ...(userId === undefined || done === 'userId' ? [] : [sql`s.user_id = ${userId}`]),
  ...(model === undefined || done === 'model'
    ? []
    : [sql`EXISTS (SELECT FROM forum_models m WHERE m.model = ${model} AND m.session_id = s.id)`]),
  ...(category === undefined || done === 'category' ? [] : [categoryOf(category, me)]),
];

const categoryOf = (category: ForumCategory, me: number): SQL => {
  const conditions: Record<ForumCategory, SQL> = {
    hot: sql`true`,
    mine: sql`s.user_id = ${me}`,
    replied: sql`EXISTS (SELECT FROM forum_replies r WHERE r.user_id = ${me} AND r.session_id = s.id)`,
    history: sql`EXISTS (SELECT FROM forum_visits v WHERE v.user_id = ${me} AND v.session_id = s.id)`,
    answered: sql`s.accepted_id IS NOT NULL`,
    unanswered: sql`s.accepted_id IS NULL`,
    essence: sql`s.essence`,
  };
  return conditions[category];
};

/** How far a list reaches back; with several filters, how many of the first one's are looked through. */
const reach = { plain: 1000, filtered: 5000 } as const;

/**
 * The numbers of a page of questions, and how many fit, counted no further than the list reaches:
 * both cost the same whether the forum holds a thousand questions or a hundred thousand.
 * @param me whose questions, answers and visits are meant; 0: a visitor's
 */
export const listQuestions = async (
  db: Executor,
  filter: ForumFilter,
  me: number,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ ids: number[]; total: number }> => {
  const way = wayOf(filter, me);
  const conditions = conditionsOf(filter, me, way.of);
  const several = conditions.length > 0;
  const window = several ? reach.filtered : reach.plain;
  const first = sql`SELECT s.id, s.group_id, s.user_id FROM ${way.from}
    WHERE ${way.where} ORDER BY ${way.order} LIMIT ${window}`;
  const fitting = several
    ? sql`SELECT array_agg(s.id ORDER BY s.place) AS ids
        FROM (SELECT *, row_number() OVER () AS place FROM (${first}) ordered) s
        WHERE ${sql.join(conditions, sql` AND `)}`
    : sql`SELECT array_agg(s.id) AS ids FROM (${first}) s`;
  const from = Math.min(offset, window) + 1;
  const { rows } = await db.execute<{ total: number; ids: number[] | null }>(sql`
    SELECT coalesce(cardinality(ids), 0) AS total,
      ids[${from}::int:${from + limit - 1}::int]::float8[] AS ids FROM (${fitting}) fit`);
  return { ids: rows[0]?.ids ?? [], total: rows[0]?.total ?? 0 };
};

/** Of these questions those that fit. */
export const fittingQuestions = async (
  db: Executor,
  ids: readonly number[],
  filter: ForumFilter,
  me: number,
): Promise<Set<number>> => {
  const conditions = conditionsOf(filter, me);
  if (ids.length === 0 || conditions.length === 0) return new Set(ids);
  const { rows } = await db.execute<{ id: number }>(sql`
    SELECT s.id::float8 FROM sessions s WHERE s.id = ANY(${`{${ids.join(',')}}`}::bigint[])
      AND ${sql.join(conditions, sql` AND `)}`);
  return new Set(rows.map(({ id }) => id));
};

/** What a question begins with: its title, its first letters and its images. */
export const readQuestions = statement<{
  id: number;
  title: string;
  human: string;
  images: string[] | null;
  /** Whoever wrote last is disabled. */
  last_suspended: boolean | null;
}>(
  'forum_questions',
  `SELECT asked.id::float8, q.title, left(q.human, 8000) AS human, q.images, (
     SELECT ${suspendedText('l.user_id')} FROM history l WHERE l.session_id = asked.id
     ORDER BY l.id DESC LIMIT 1
   ) AS last_suspended
   FROM unnest($1::bigint[]) AS asked (id)
   JOIN LATERAL (
     SELECT h.title, h.human, ARRAY(SELECT jsonb_array_elements_text(h.request -> 'images')) AS images
     FROM history h WHERE h.session_id = asked.id ORDER BY h.id LIMIT 1
   ) q ON true`,
  { shared: true },
);
