import { sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { suspendedText } from '#server/db/suspended.ts';
import { statement } from '#server/db/statement.ts';
import { searchedLetters } from './search-grams.ts';
import type { Posting } from './search-postings.ts';

/** What a reply says in words: a message of images has none, only a list of them. */
const replyText = `CASE WHEN h.type IN (1, 4) THEN '' ELSE h.ai END`;

/** What of a text is indexed, and so looked through and shown: what lies behind is found by nothing. */
const indexed = (text: string): string => `left(${text}, ${searchedLetters})`;
/** About how many bytes of a text that is. */
const bytesOf = (text: string): string => `least(octet_length(${text}), 3 * ${searchedLetters})`;

// ---- filling ----------------------------------------------------------------

/** The advisory lock of whichever process fills the index. */
const lock = 4_715_003;

export const lockIndex = async (tx: Transaction): Promise<boolean> => {
  const { rows } = await tx.execute<{ mine: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${lock}) AS mine`,
  );
  return rows[0]?.mine ?? false;
};

/** Bytes of texts that are read together, and of grams that are merged together. */
const together = { texts: 1_000_000, grams: 1_000_000 };

/** Of so many sessions so many messages are queued at a time. */
const listed = { sessions: 20, messages: 500 };

const list = statement<{ more: boolean }>(
  'search_list',
  `WITH next AS (
     SELECT id, session_id, after FROM search_sessions ORDER BY id LIMIT ${listed.sessions}
   ), found AS (
     SELECT next.id AS entry, h.* FROM next CROSS JOIN LATERAL (
       SELECT id, pg_column_size(human) + pg_column_size(ai) AS size FROM history
       WHERE session_id = next.session_id AND id > next.after
         AND state <> 'streaming' ORDER BY id LIMIT ${listed.messages}) h
   ), ends AS (
     SELECT entry, max(id) AS last FROM found GROUP BY entry HAVING count(*) = ${listed.messages}
   ), queued AS (
     INSERT INTO search_queue (history_id, bulk)
       SELECT id, count(*) OVER () > 200 OR sum(size) OVER () > ${together.texts} FROM found
   ), done AS (
     DELETE FROM search_sessions
     WHERE id IN (SELECT id FROM next) AND id NOT IN (SELECT entry FROM ends)
   ), cut AS (
     UPDATE search_sessions SET after = last FROM ends WHERE id = entry
   )
   SELECT count(*) = ${listed.sessions} OR EXISTS (SELECT FROM ends) AS more FROM next`,
);

/** Queues messages of the sessions that wait; true when there are more. */
export const queueSessions = async (tx: Transaction): Promise<boolean> =>
  (await list(tx, []))[0]?.more ?? false;

/**
 * Takes the next entries off the queue, those of single messages first, as far as their texts are read
 * together; gives the numbers of their messages, and how many entries of $1 there were.
 */
export const takeQueued = statement<{ history_id: number; waiting: number }>(
  'search_take',
  `WITH next AS (
     SELECT id, sum(bytes) OVER (ORDER BY bulk, id) - bytes AS before FROM (
       SELECT q.*, coalesce(${bytesOf('h.human')} + ${bytesOf('h.ai')}, 0) AS bytes
       FROM (SELECT * FROM search_queue ORDER BY bulk, id LIMIT $1) q
       LEFT JOIN history h ON h.id = q.history_id) q
   ), taken AS (
     DELETE FROM search_queue WHERE id IN (SELECT id FROM next WHERE before < ${together.texts})
     RETURNING history_id
   )
   SELECT history_id::float8, (SELECT count(*) FROM next)::int AS waiting FROM taken`,
);

export interface Searchable {
  id: number;
  session_id: number;
  /** Of the people in whose lists of their own sessions it is. */
  user_ids: number[];
  public: boolean;
  /** Of a session of people. */
  of_people: boolean;
  title: string;
  human: string;
  ai: string;
}

/** What can be found of these messages: those that are gone, or whose session is, are left out. */
export const readSearchable = statement<Searchable>(
  'search_read',
  `SELECT h.id::float8, h.session_id::float8, NOT s.private AS public, s.type = 2 AS of_people,
     CASE WHEN f.session_id IS NULL THEN ARRAY[s.user_id::float8]
       ELSE ARRAY[f.low_user_id::float8, f.high_user_id::float8] END AS user_ids,
     h.title, ${indexed('h.human')} AS human, ${indexed(replyText)} AS ai
   FROM history h JOIN sessions s ON s.id = h.session_id
   LEFT JOIN friends f ON f.session_id = s.id
   WHERE h.id = ANY($1::bigint[]) AND h.state <> 'streaming'
     AND s.deleted_at IS NULL AND NOT s.temporary`,
);

/** Makes fresh messages of numbers $1 and the grams of each, a list of PostgreSQL. */
export const putGrams = statement(
  'search_put',
  `INSERT INTO search_fresh (history_id, grams)
   SELECT id, grams::integer[] FROM unnest($1::bigint[], $2::text[]) AS new (id, grams)
   ON CONFLICT (history_id) DO UPDATE SET grams = excluded.grams`,
);

/** Which of the messages will never be found again. */
export const findDead = statement<{ id: number }>(
  'search_dead',
  `SELECT id::float8 FROM unnest($1::bigint[]) AS asked (id) WHERE NOT EXISTS (
     SELECT FROM history h JOIN sessions s ON s.id = h.session_id
     WHERE h.id = asked.id AND s.deleted_at IS NULL)`,
);

/** What is in the postings already stays there. */
export const removeGrams = statement(
  'search_remove',
  `DELETE FROM search_fresh WHERE history_id = ANY($1::bigint[])`,
);

/** Whether there are so many fresh messages, or so large ones, that each search would feel it. */
export const hasManyFresh = async (db: Executor, most: number): Promise<boolean> =>
  (await manyFresh(db, [most]))[0]?.many ?? false;
const manyFresh = statement<{ many: boolean }>(
  'search_count',
  `SELECT count(*) >= $1 OR sum(pg_column_size(grams)) > ${8 * together.grams} AS many
   FROM search_fresh`,
);

const merge = (name: string, source: string) =>
  statement(
    name,
    `WITH source AS (${source})
     INSERT INTO search_postings (gram, segment, ids)
     SELECT gram, (history_id >> 14)::integer AS segment,
       string_agg(int2send((history_id & 16383)::smallint), ''::bytea)
     FROM source, unnest(grams) gram GROUP BY 1, 2
     ON CONFLICT (gram, segment) DO UPDATE
       SET ids = search_joined(search_postings.ids, excluded.ids)`,
  );

/** Moves fresh messages, at most $1 and less than 1024, into the postings. */
export const mergeFresh = merge(
  'search_merge',
  `DELETE FROM search_fresh WHERE history_id IN (
     SELECT history_id FROM (
       SELECT history_id, sum(bytes) OVER (ORDER BY history_id) - bytes AS before FROM (
         SELECT history_id, pg_column_size(grams) AS bytes FROM search_fresh
         ORDER BY history_id LIMIT $1) oldest) oldest
     WHERE before < ${together.grams})
   RETURNING history_id, grams`,
);

/** Leaves the message out that would be merged first; gives its number. */
export const dropOldestFresh = statement<{ id: number }>(
  'search_drop',
  `DELETE FROM search_fresh WHERE history_id = (SELECT min(history_id) FROM search_fresh)
   RETURNING history_id::float8 AS id`,
);

/** Puts the same, less than 1024, into the postings without their ever being fresh. */
export const mergeGrams = merge(
  'search_merge_given',
  `SELECT id AS history_id, grams::integer[] FROM unnest($1::bigint[], $2::text[]) AS new (id, grams)`,
);

// ---- looking up ---------------------------------------------------------------

// A message goes from the queue to the fresh ones and from there to the postings: who looks in this
// order misses none.

/** Messages that the search does not know yet: of each line the 300 that were written or changed last. */
export const findQueued = statement<{ id: number }>(
  'search_queued',
  [
    ...[false, true].map(
      (bulk) => `(SELECT history_id::float8 AS id FROM search_queue queue WHERE bulk = ${bulk}
        ORDER BY queue.id DESC LIMIT 300)`,
    ),
    `(SELECT h.id::float8 FROM (
       SELECT session_id FROM search_sessions ORDER BY id DESC LIMIT 10) q
     CROSS JOIN LATERAL (SELECT id FROM history WHERE session_id = q.session_id
       ORDER BY id DESC LIMIT 100) h LIMIT 300)`,
  ].join(' UNION ALL '),
);

/** The fresh messages that have all of the first grams and some of the second (null: no matter). */
export const findFresh = statement<{ id: number }>(
  'search_fresh',
  `SELECT history_id::float8 AS id FROM search_fresh
   WHERE grams @> $1::integer[] AND ($2::integer[] IS NULL OR grams && $2::integer[])`,
);

/** Which messages have these grams, in the segments given or in all. */
export const readPostings = async (
  db: Executor,
  grams: readonly number[],
  segments: readonly number[] | null,
): Promise<Posting[]> => {
  if (grams.length === 0) return [];
  return segments ? postingsWithin(db, [grams, segments]) : postings(db, [grams]);
};
const postings = statement<Posting>(
  'search_postings',
  'SELECT gram, segment, ids FROM search_postings WHERE gram = ANY($1::integer[])',
);
const postingsWithin = statement<Posting>(
  'search_postings_within',
  `SELECT gram, segment, ids FROM search_postings
   WHERE gram = ANY($1::integer[]) AND segment = ANY($2::integer[])`,
);

/** The segments with postings of all of so many grams, the newest first; found in the index alone. */
export const segmentsWith = statement<{ segment: number }>(
  'search_segments',
  `SELECT segment FROM search_postings WHERE gram = ANY($1::integer[])
   GROUP BY segment HAVING count(*) = $2::integer ORDER BY segment DESC`,
);

export type SearchScope =
  | { in: 'session'; sessionId: number }
  | { in: 'public' }
  | { in: 'forum' }
  /** What is in somebody's list of their own sessions. */
  | { in: 'own'; userId: number }
  /** Those of everybody: what managers search. */
  | { in: 'all' }
  /** Of these sessions those that somebody may read. */
  | { in: 'sessions'; sessionIds: readonly number[] };

export interface MatchFilter {
  /** Sessions of this person. */
  userId?: number;
  model?: string;
  scenarioId?: number;
}

/** What makes a session `s` one of the scope. $2 (`keysOf`) stands in each, or its type is unknown. */
const isOf = {
  session: 's.id = ANY($2::bigint[])',
  sessions: 's.id = ANY($2::bigint[])',
  public: "NOT s.private AND s.prompt <> '' AND $2::bigint[] IS NOT NULL",
  forum: "s.type = 2 AND NOT s.private AND s.prompt <> '' AND $2::bigint[] IS NOT NULL",
  all: '$2::bigint[] IS NOT NULL',
  own: `(s.user_id = ANY($2::bigint[]) OR EXISTS (SELECT FROM friends f
    WHERE f.session_id = s.id AND (f.low_user_id = ANY($2) OR f.high_user_id = ANY($2))))`,
} as const satisfies Record<SearchScope['in'], string>;

const keysOf = (scope: SearchScope): readonly number[] => {
  if (scope.in === 'session') return [scope.sessionId];
  if (scope.in === 'own') return [scope.userId];
  return scope.in === 'sessions' ? scope.sessionIds : [];
};

export interface Candidate {
  historyId: number;
  sessionId: number;
  /** When the session changed last, ms. */
  at: number;
}

/** Columns as one row of lists: a row for each of so many candidates takes pg longer than the search. */
interface Placed {
  ids: string;
  session_ids: string;
  ats: string;
}

/** What somebody wrote among strangers and is disabled now is found by managers alone. */
const ofTheServed = `(s.type <> 2 OR s.private OR h.user_id = s.user_id
  OR NOT ${suspendedText('h.user_id')})`;

const place = (scope: SearchScope['in']) =>
  statement<Placed>(
    `search_place_${scope}`,
    `SELECT coalesce(array_agg(h.id), '{}')::text AS ids,
       coalesce(array_agg(s.id), '{}')::text AS session_ids,
       coalesce(array_agg(date_part('epoch', s.updated_at) * 1000), '{}')::text AS ats
     FROM history h JOIN sessions s ON s.id = h.session_id
     WHERE h.id = ANY($1::bigint[]) AND h.shown AND s.deleted_at IS NULL AND NOT s.temporary
       AND ${isOf[scope]} ${scope === 'all' ? '' : `AND ${ofTheServed}`} AND ($3::bigint IS NULL OR s.user_id = $3)
       AND ($4::text IS NULL OR s.model = $4) AND ($5::bigint IS NULL OR s.scenario_id = $5)`,
  );
const places = {
  session: place('session'),
  sessions: place('sessions'),
  public: place('public'),
  forum: place('forum'),
  own: place('own'),
  all: place('all'),
};

const numbersIn = (list: string): number[] => JSON.parse(`[${list.slice(1, -1)}]`) as number[];

/** Those of the messages that are shown and belong to the scope, newest first. */
export const placeCandidates = async (
  db: Executor,
  ids: readonly number[],
  scope: SearchScope,
  filter: MatchFilter,
): Promise<Candidate[]> => {
  if (ids.length === 0) return [];
  const filters = [filter.userId ?? null, filter.model ?? null, filter.scenarioId ?? null];
  const [row] = await places[scope.in](db, [ids, keysOf(scope), ...filters]);
  if (!row) return [];
  const sessionIds = numbersIn(row.session_ids);
  const ats = numbersIn(row.ats);
  return numbersIn(row.ids)
    .map((historyId, at) => ({ historyId, sessionId: sessionIds[at]!, at: ats[at]! }))
    .sort((a, b) => b.historyId - a.historyId);
};

/**
 * Which of the messages $1 hold all the words $2, in lower case as far as ASCII goes, in what is
 * indexed of their texts. They are read in their order until $3 bytes are used up; each tells how many
 * its own were.
 */
export const findHolding = statement<{ id: number; bytes: number; holds: boolean }>(
  'search_holding',
  `SELECT h.id::float8, h.bytes::float8, NOT EXISTS (
       SELECT FROM unnest($2::text[]) word
       WHERE strpos(t.title, word) = 0 AND strpos(t.human, word) = 0 AND strpos(t.ai, word) = 0
     ) AS holds
   FROM (
     SELECT *, sum(bytes) OVER (ORDER BY turn) - bytes AS before FROM (
       SELECT h.id, turn, h.title, h.human, ${replyText} AS ai,
         ${bytesOf('h.human')} + ${bytesOf(replyText)} AS bytes
       FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (id, turn) JOIN history h USING (id)
     ) h
   ) h
   JOIN LATERAL (SELECT lower(h.title COLLATE "C") AS title,
     lower(${indexed('h.human')} COLLATE "C") AS human,
     lower(${indexed('h.ai')} COLLATE "C") AS ai OFFSET 0) t ON true
   WHERE h.before < $3::float8`,
);

export interface Excerpt {
  id: number;
  part: 'human' | 'ai';
  /** Text around the word, `cut` where more stands before and behind it. */
  text: string;
  cut_before: boolean;
  cut_behind: boolean;
  created_at: Date;
}

/** Characters of an excerpt before the word, and in all. */
const excerptBefore = 24;
const excerptLength = 120;

/** What stands around the first of the words in these messages, in what is indexed of them. */
export const readExcerpts = statement<Excerpt>(
  'search_excerpts',
  `SELECT h.id::float8, part, substr(text, first, ${excerptLength}) AS text, first > 1 AS cut_before,
     first + ${excerptLength} <= length(text) AS cut_behind, h.created_at
   FROM history h
   JOIN LATERAL (
     SELECT part, text, greatest(1, at - ${excerptBefore}) AS first FROM (
       SELECT 1 AS place, 'human' AS part, text, strpos(lower(text COLLATE "C"), $2) AS at
       FROM (SELECT CASE WHEN h.title = '' THEN ${indexed('h.human')}
         ELSE h.title || ' ' || ${indexed('h.human')} END) q (text)
       UNION ALL
       SELECT 2, 'ai', text, strpos(lower(text COLLATE "C"), $2)
       FROM (SELECT ${indexed(replyText)}) a (text)
     ) parts WHERE at > 0 ORDER BY place LIMIT 1
   ) parts ON true
   WHERE h.id = ANY($1::bigint[])`,
);
