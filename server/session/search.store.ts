import { type SQL, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';

/** What a reply says in words: a message of pictures has none, only a list of them. */
const replyText = `CASE WHEN h.type = 1 THEN '' ELSE h.ai END`;

// ---- filling ----------------------------------------------------------------

/** The advisory lock of whichever process fills the index. */
const lock = 4_715_003;

export const lockIndex = async (tx: Transaction): Promise<boolean> => {
  const { rows } = await tx.execute<{ mine: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${lock}) AS mine`,
  );
  return rows[0]?.mine ?? false;
};

/** Takes the oldest entries off the queue; gives the numbers of their messages. */
export const takeQueued = statement<{ history_id: number }>(
  'search_take',
  `DELETE FROM search_queue WHERE id IN (SELECT id FROM search_queue ORDER BY id LIMIT $1)
   RETURNING history_id::float8`,
);

export interface Searchable {
  id: number;
  session_id: number;
  /** Of the people in whose lists of their own sessions it is. */
  user_ids: number[];
  public: boolean;
  title: string;
  human: string;
  ai: string;
}

/** What can be found of these messages: those that are gone, or whose session is, are left out. */
export const readSearchable = statement<Searchable>(
  'search_read',
  `SELECT h.id::float8, h.session_id::float8, NOT s.private AS public,
     CASE WHEN f.session_id IS NULL THEN ARRAY[s.user_id::float8]
       ELSE ARRAY[f.low_user_id::float8, f.high_user_id::float8] END AS user_ids,
     h.title, left(h.human, $2) AS human, left(${replyText}, $2) AS ai
   FROM history h JOIN sessions s ON s.id = h.session_id
   LEFT JOIN friends f ON f.session_id = s.id
   WHERE h.id = ANY($1::bigint[]) AND h.state <> 'streaming'
     AND s.deleted_at IS NULL AND NOT s.temporary`,
);

const put = statement(
  'search_put',
  `INSERT INTO message_search (history_id, session_id, grams)
   SELECT id, session_id, grams::integer[]
   FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS new (id, session_id, grams)
   ON CONFLICT (history_id) DO UPDATE SET grams = excluded.grams`,
);

export const putGrams = async (
  db: Executor,
  entries: readonly { id: number; sessionId: number; grams: Iterable<number> }[],
): Promise<void> => {
  if (entries.length === 0) return;
  await put(db, [
    entries.map(({ id }) => id),
    entries.map(({ sessionId }) => sessionId),
    entries.map(({ grams }) => `{${[...grams].join(',')}}`),
  ]);
};

export const removeGrams = statement(
  'search_remove',
  `DELETE FROM message_search WHERE history_id = ANY($1::bigint[])`,
);

// ---- looking up ---------------------------------------------------------------

/** The highest number of a message in the index; 0: it is empty. */
export const newestIndexed = async (db: Executor): Promise<number> => {
  const [row] = await newest(db, []);
  return row?.id ?? 0;
};

const newest = statement<{ id: number | null }>(
  'search_newest',
  'SELECT max(history_id)::float8 AS id FROM message_search',
);

export interface Candidate {
  id: number;
  session_id: number;
}

// Apart, so that its plan is to read the index of grams whatever the order asked for.
const candidates = (name: string, condition: string) =>
  statement<Candidate>(
    name,
    `WITH found AS MATERIALIZED (
       SELECT history_id, session_id FROM message_search WHERE ${condition}
     )
     SELECT history_id::float8 AS id, session_id::float8 FROM (
       SELECT *, row_number() OVER (PARTITION BY session_id ORDER BY history_id DESC) AS place
       FROM found WHERE history_id < $2
     ) placed WHERE place > $3 AND place <= $4
     ORDER BY history_id DESC LIMIT $5`,
  );
const withAll = candidates('search_all', 'grams @> $1::integer[]');
const withAllAndAny = candidates(
  'search_all_any',
  'grams @> $1::integer[] AND grams && $6::integer[]',
);

/**
 * Messages with numbers below `before` that have all of `grams` and some of `any` (null: no matter),
 * newest first; of each session those at the places behind `after` up to `upTo`, by their age.
 */
export const findCandidates = (
  db: Executor,
  asked: {
    grams: readonly number[];
    any: readonly number[] | null;
    before: number;
    after: number;
    upTo: number;
    most: number;
  },
): Promise<Candidate[]> => {
  const params = [asked.grams, asked.before, asked.after, asked.upTo, asked.most];
  return asked.any ? withAllAndAny(db, [...params, asked.any]) : withAll(db, params);
};

/** The messages that were written or changed last and are not in the index yet. */
export const findQueued = statement<Candidate>(
  'search_queued',
  `SELECT DISTINCT id::float8, session_id::float8 FROM history WHERE id IN (
     SELECT history_id FROM search_queue ORDER BY id DESC LIMIT $1
   )`,
);

export type SearchScope =
  | { in: 'session'; sessionId: number }
  | { in: 'public' }
  /** What is in somebody's list of their own sessions. */
  | { in: 'own'; userId: number }
  /** Of these sessions those that somebody may read. */
  | { in: 'sessions'; sessionIds: readonly number[] };

export interface MatchFilter {
  /** Sessions of this person. */
  userId?: number;
  model?: string;
  scenarioId?: number;
}

const isOf = (scope: SearchScope): SQL => {
  if (scope.in === 'session') return sql`s.id = ${scope.sessionId}`;
  if (scope.in === 'public') return sql`NOT s.private AND s.prompt <> ''`;
  if (scope.in === 'sessions') return sql`s.id = ANY(${sql.param(scope.sessionIds)}::bigint[])`;
  return sql`(s.user_id = ${scope.userId} OR EXISTS (SELECT FROM friends f
    WHERE f.session_id = s.id AND ${scope.userId} IN (f.low_user_id, f.high_user_id)))`;
};

export interface Match {
  historyId: number;
  sessionId: number;
  /** When the session changed last, ms. */
  at: number;
}

/**
 * Those of the candidates that are shown, belong to the scope and hold all the words, newest first.
 * @param words in lower case as far as ASCII goes
 */
export const checkCandidates = async (
  db: Executor,
  ids: readonly number[],
  words: readonly string[],
  scope: SearchScope,
  filter: MatchFilter,
): Promise<Match[]> => {
  if (ids.length === 0) return [];
  const conditions = [
    sql`h.shown`,
    sql`s.deleted_at IS NULL`,
    sql`NOT s.temporary`,
    isOf(scope),
    ...(filter.userId === undefined ? [] : [sql`s.user_id = ${filter.userId}`]),
    ...(filter.model === undefined ? [] : [sql`s.model = ${filter.model}`]),
    ...(filter.scenarioId === undefined ? [] : [sql`s.scenario_id = ${filter.scenarioId}`]),
  ];
  const { rows } = await db.execute<{ history_id: number; session_id: number; at: number }>(sql`
    SELECT h.id::float8 AS history_id, h.session_id::float8, s.at
    FROM unnest(${sql.param(ids)}::bigint[]) AS candidate (id)
    JOIN history h ON h.id = candidate.id
    JOIN LATERAL (SELECT extract(epoch FROM s.updated_at)::float8 * 1000 AS at
      FROM sessions s WHERE s.id = h.session_id AND ${sql.join(conditions, sql` AND `)} OFFSET 0
    ) s ON true
    JOIN LATERAL (SELECT lower((h.title || ' ' || h.human || ' ' || ${sql.raw(replyText)}) COLLATE "C") AS text
      OFFSET 0) t ON true
    WHERE ${sql.join(
      words.map((word) => sql`strpos(t.text, ${word}) > 0`),
      sql` AND `,
    )}
    ORDER BY h.id DESC`);
  return rows.map((row) => ({
    historyId: row.history_id,
    sessionId: row.session_id,
    at: row.at,
  }));
};

export interface Excerpt {
  id: number;
  part: 'human' | 'ai';
  /** Text around the word, `cut` where more stands before and behind it. */
  text: string;
  cut_before: boolean;
  cut_behind: boolean;
  created_at: string;
}

/** Characters of an excerpt before the word, and in all. */
const excerptBefore = 24;
const excerptLength = 120;

/** What stands around the first of the words in these messages. */
export const readExcerpts = statement<Excerpt>(
  'search_excerpts',
  `SELECT h.id::float8, part, substr(text, first, ${excerptLength}) AS text, first > 1 AS cut_before,
     first + ${excerptLength} <= length(text) AS cut_behind, h.created_at
   FROM history h
   JOIN LATERAL (
     SELECT part, text, greatest(1, at - ${excerptBefore}) AS first FROM (
       SELECT 1 AS place, 'human' AS part, text, strpos(lower(text COLLATE "C"), $2) AS at
       FROM (SELECT CASE WHEN h.title = '' THEN h.human ELSE h.title || ' ' || h.human END) q (text)
       UNION ALL
       SELECT 2, 'ai', ${replyText}, strpos(lower(${replyText} COLLATE "C"), $2)
     ) parts WHERE at > 0 ORDER BY place LIMIT 1
   ) parts ON true
   WHERE h.id = ANY($1::bigint[])`,
);
