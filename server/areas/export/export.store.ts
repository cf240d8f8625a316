import { and, asc, count, eq, gt, lt, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { downloads, history, users } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';

const columns = {
  id: history.id,
  prevId: history.prevId,
  shown: history.shown,
  rank: history.branchRank,
  besideGroup: history.besideGroup,
  place: history.place,
  userId: history.userId,
  userName: users.userName,
  human: history.human,
  request: history.request,
  title: history.title,
  ai: history.ai,
  reasoning: history.reasoning,
  sources: history.sources,
  tools: history.tools,
  parts: history.parts,
  type: history.type,
  model: history.model,
  state: history.state,
  errorCode: history.errorCode,
  errorMessage: history.errorMessage,
  promptTokens: history.promptTokens,
  completionTokens: history.completionTokens,
  createdAt: history.createdAt,
  answeredAt: history.answeredAt,
  editedAt: history.editedAt,
};
export type ExportRow = Awaited<ReturnType<typeof listRows>>[number];

/** What of a session is wanted: all its branches, or what is shown with the answers beside it. */
export interface Wanted {
  sessionId: number;
  all: boolean;
}

/** A row is on the shown path, or stands beside one that is. */
const wanted = ({ sessionId, all }: Wanted) =>
  and(
    eq(history.sessionId, sessionId),
    all
      ? undefined
      : sql`(${history.shown} OR (${history.besideGroup} <> 0 AND EXISTS (
          SELECT 1 FROM history AS partner WHERE partner.session_id = ${sessionId}
            AND partner.beside_group = ${history.besideGroup} AND partner.shown)))`,
  );

/** The next rows behind `after`, oldest first. */
export const listRows = (db: Executor, what: Wanted, after: number, limit: number) =>
  db
    .select(columns)
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(and(wanted(what), gt(history.id, after)))
    .orderBy(asc(history.id))
    .limit(limit);

/** How many messages they are, and the bytes of their words, which no message is read for. */
export const sizeOf = async (
  db: Executor,
  what: Wanted,
): Promise<{ count: number; bytes: number }> => {
  const { human, ai, reasoning } = history;
  const bytes = sql<number>`coalesce(sum(octet_length(${human}) + octet_length(${ai})
    + octet_length(${reasoning})), 0)::float8`;
  const rows = await db.select({ count: count(), bytes }).from(history).where(wanted(what));
  return rows[0] ?? { count: 0, bytes: 0 };
};

// ---- files to be fetched ----------------------------------------------------

export const insertDownload = async (
  db: Executor,
  values: {
    key: string;
    userId: number | null;
    sessionId: number;
    storageKey: string;
    name: string;
    mime: string;
    size: number;
    /** From now on, s. */
    lives: number;
  },
): Promise<void> => {
  const { lives, ...rest } = values;
  await db
    .insert(downloads)
    .values({ ...rest, expiresAt: sql`now() + make_interval(secs => ${lives})` });
};

/** What may be fetched yet: its maker may still read the session that it was made of. */
export const findDownload = async (db: Executor, key: string) => {
  const rows = await db
    .select()
    .from(downloads)
    .where(
      and(
        eq(downloads.key, key),
        gt(downloads.expiresAt, sql`now()`),
        sql`EXISTS (
          SELECT FROM sessions s LEFT JOIN friends f ON f.session_id = s.id
            LEFT JOIN users maker ON maker.id = ${downloads.userId}
          WHERE s.id = ${downloads.sessionId} AND (maker.manager OR s.deleted_at IS NULL
            AND (NOT s.private OR maker.id IN (s.user_id, f.low_user_id, f.high_user_id))))`,
      ),
    );
  return rows[0] ?? null;
};

/** Takes out what nobody may fetch any more; gives where it lies in the storage. */
export const removeExpired = async (db: Executor): Promise<string[]> => {
  const rows = await db
    .delete(downloads)
    .where(lt(downloads.expiresAt, sql`now()`))
    .returning({ storageKey: downloads.storageKey });
  return rows.map((row) => row.storageKey);
};

/** Where what a person is about to fetch is stored. */
export const downloadsOf = async (db: Executor, userId: number): Promise<string[]> => {
  const rows = await db
    .select({ storageKey: downloads.storageKey })
    .from(downloads)
    .where(eq(downloads.userId, userId));
  return rows.map((row) => row.storageKey);
};

// ---- import -------------------------------------------------------------------

/** Fresh numbers of a table, growing. */
export const reserveIds = async (
  db: Executor,
  table: 'sessions' | 'history',
  many: number,
): Promise<number[]> => {
  const { rows } = await db.execute<{ id: number }>(
    sql`SELECT nextval(pg_get_serial_sequence(${table}, 'id'))::float8 AS id
      FROM generate_series(1, ${many}::int)`,
  );
  return rows.map((row) => row.id);
};

const addSessions = statement<{ id: number; uuid: string }>(
  'import_sessions',
  `INSERT INTO sessions (id, user_id, type, private, imported, model, prompt, summary, reply_count,
     created_at, updated_at) OVERRIDING SYSTEM VALUE
   SELECT number, $3, 0, true, true,
     CASE WHEN EXISTS (SELECT 1 FROM models WHERE name = s.model) THEN s.model ELSE $4 END,
     s.prompt, s.summary, s.reply_count, s.created_at, s.updated_at
   FROM ROWS FROM (
     json_to_recordset($1::json) AS (model text, prompt text, summary text, reply_count integer,
       created_at timestamptz, updated_at timestamptz),
     unnest($2::bigint[])
   ) AS s (model, prompt, summary, reply_count, created_at, updated_at, number)
   RETURNING id::float8, uuid`,
);

/** `rows`: JSON of sessions; `ids`: theirs, in their order. A model not known here is replaced. */
export const insertSessions = (
  db: Executor,
  rows: string,
  ids: number[],
  { userId, model }: { userId: number; model: string },
): Promise<{ id: number; uuid: string }[]> => addSessions(db, [rows, ids, userId, model]);

const addMessages = statement(
  'import_messages',
  `INSERT INTO history (id, session_id, prev_id, beside_group, user_id, human, ai, reasoning, parts,
     request, title, type, model, state, error_code, error_message, shown, branch_rank, place,
     prompt_tokens, completion_tokens, created_at, answered_at, edited_at) OVERRIDING SYSTEM VALUE
   SELECT number, session_number, prev_number, group_number, $6, m.human, m.ai, m.reasoning,
     m.parts::jsonb,
     CASE WHEN jsonb_array_length(m.request::jsonb->'files') > 0
       THEN jsonb_set(m.request::jsonb, '{files}', (
         SELECT jsonb_agg(CASE WHEN EXISTS (SELECT FROM files o
             WHERE o.id = (f->>'uuid')::uuid AND o.user_id = $6 AND o.kind = 'text') THEN f
           ELSE f || '{"uuid": "00000000-0000-0000-0000-000000000000"}'::jsonb END)
         FROM jsonb_array_elements(m.request::jsonb->'files') f))
       ELSE m.request::jsonb END, m.title, m.type, m.model, m.state, m.error_code,
     m.error_message, m.shown, m.branch_rank, m.place, m.prompt_tokens, m.completion_tokens,
     m.created_at, m.answered_at, m.edited_at
   FROM ROWS FROM (
     json_to_recordset($1::json) AS (human text, ai text, reasoning text, parts json, request json,
       title text, type smallint, model text, state text, error_code text, error_message text,
       shown boolean, branch_rank integer, place smallint, prompt_tokens integer,
       completion_tokens integer, created_at timestamptz, answered_at timestamptz,
       edited_at timestamptz),
     unnest($2::bigint[]), unnest($3::bigint[]), unnest($4::bigint[]), unnest($5::bigint[])
   ) AS m (human, ai, reasoning, parts, request, title, type, model, state, error_code,
     error_message, shown, branch_rank, place, prompt_tokens, completion_tokens, created_at,
     answered_at, edited_at, number, session_number, prev_number, group_number)`,
);

export interface MessageNumbers {
  ids: number[];
  sessions: number[];
  /** 0: the first of its session. */
  before: number[];
  /** The first of two answers beside each other; 0: there is but one. */
  groups: number[];
}

/**
 * `rows`: JSON of messages; their numbers apart, in the same order. Of attached files that are not
 * the person's the names alone are kept.
 */
export const insertMessages = async (
  db: Executor,
  rows: string,
  { ids, sessions: of, before, groups }: MessageNumbers,
  userId: number,
): Promise<void> => {
  await addMessages(db, [rows, ids, of, before, groups, userId]);
};

/** What an import must know of the person: locked, so that a ban counts at once. */
export const lockImporter = async (db: Executor, userId: number) => {
  const rows = await db
    .select({ blacklisted: users.sessionBlacklist, setting: users.setting })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update');
  return rows[0] ?? null;
};
