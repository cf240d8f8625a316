import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { ReplyState } from '#contract/chat.ts';
import type { StoredSource } from '#contract/embedding.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { sqlState } from '#server/db/failure.ts';
import { history, sessions } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import { storableJson } from '#server/storable.ts';
import { tellEndedSql } from '#server/waits/wait-ended.store.ts';
import type { ReplyLog } from './reply-log.ts';

/** NOTIFY channels: replies that grew or ended (their ids), and one that shall stop. */
export const changedChannel = 'answers_changed';
export const stopChannel = 'answer_stop';

export interface Flush {
  id: number;
  log: ReplyLog;
  promptTokens: number;
}

/**
 * Stores what many replies have so far and announces it, in one statement. Gives those that are
 * still this owner's, and which of them shall stop; those of accounts that were ended are not there.
 */
export const flushReplies = async (
  db: Executor,
  owner: number,
  flushes: readonly Flush[],
): Promise<Map<number, { stopRequested: boolean }>> => {
  const rows = await flush(db, [
    owner,
    flushes.map(({ id }) => id),
    flushes.map(({ log }) => log.text),
    flushes.map(({ log }) => log.reasoning),
    flushes.map(({ log }) => JSON.stringify(log.parts)),
    flushes.map(({ promptTokens }) => promptTokens),
  ]);
  return new Map(rows.map((row) => [row.id, { stopRequested: row.stop_requested }]));
};

/** Readers in the process that writes the reply need no notice. */
const othersThan = (owner: string): string => `SELECT FROM instances WHERE id <> ${owner}`;

const flush = statement<{ id: number; stop_requested: boolean }>(
  'answers_flush',
  `WITH flushed AS (
     UPDATE history SET ai = new.ai, reasoning = new.reasoning, parts = new.parts::jsonb,
       prompt_tokens = new.prompt_tokens
     FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::int[])
       AS new (id, ai, reasoning, parts, prompt_tokens)
     WHERE history.id = new.id AND owner = $1 AND state = 'streaming'
       -- Its words would be refused, and with them those of all.
       AND NOT EXISTS (SELECT FROM users
         WHERE users.id = history.user_id AND users.erased_at IS NOT NULL)
     RETURNING history.id, stop_requested
   ), told AS (
     SELECT pg_notify('${changedChannel}', string_agg(id::text, ',')) FROM flushed
     HAVING EXISTS (${othersThan('$1')})
   )
   SELECT id::float8, stop_requested FROM flushed LEFT JOIN told ON true`,
);

const note = statement(
  'answer_note',
  `UPDATE sessions SET updated_at = now(), summary = coalesce($2::text, summary),
     reply_count = reply_count + CASE WHEN $2::text IS NULL THEN 0 ELSE 1 END
   WHERE id = $1 AND deleted_at IS NULL`,
);

/**
 * Notes the end of a reply on the session's card, with the summary of one that has text. It comes
 * before all else: the session's row is locked before the wallet's and the message's everywhere, so
 * that nobody waits in a ring.
 */
export const noteEnd = async (
  tx: Transaction,
  sessionId: number,
  summary: string | null,
): Promise<void> => {
  await note(tx, [sessionId, summary]);
};

const endAnswer = statement(
  'answer_end',
  `WITH ended AS (
     UPDATE history SET state = $3, error_code = $4, error_message = $5, prompt_tokens = $6,
       completion_tokens = $7, deduct_tokens = $8, ai = $9, reasoning = $10, parts = $11::jsonb,
       tools = $12::jsonb,
       sources = CASE WHEN $13::jsonb IS NULL THEN sources
         ELSE coalesce(sources, '[]') || $13::jsonb END,
       thought_ms = $14, cached_tokens = $15,
       owner = NULL, hold_id = NULL, answered_at = now()
     WHERE id = $1 AND owner = $2 AND state = 'streaming'
     RETURNING id
   )
   -- Its commit may be on the way already: without a row there must be an error.
   SELECT 1 / count(*),
     (SELECT pg_notify('${changedChannel}', $1::bigint::text) WHERE EXISTS (${othersThan('$2')})),
     (${tellEndedSql('answer', '$1::bigint::text')}) FROM ended`,
);
const nothingEnded = '22012';

/**
 * Writes a reply's last state and tells it to all processes. False when it is no longer this
 * owner's, or has ended already: then the transaction can only be rolled back, which a commit does
 * as well.
 */
export const closeReply = async (
  tx: Transaction,
  owner: number,
  id: number,
  values: {
    state: ReplyState;
    errorCode: string;
    errorMessage: string;
    promptTokens: number;
    completionTokens: number;
    deductTokens: number;
    cachedTokens: number;
    log: ReplyLog;
    /** What it rests on, where that came to be known while it was written. */
    sources?: readonly StoredSource[] | null;
  },
): Promise<boolean> => {
  const { log } = values;
  log.endThought();
  const params = [
    id,
    owner,
    values.state,
    values.errorCode,
    values.errorMessage,
    values.promptTokens,
    values.completionTokens,
    values.deductTokens,
    log.text,
    log.reasoning,
    JSON.stringify(log.parts),
    log.tools.length > 0 ? storableJson(log.tools) : null,
    values.sources && values.sources.length > 0 ? storableJson(values.sources) : null,
    log.thoughtMs,
    values.cachedTokens,
  ];
  return endAnswer(tx, params).then(
    () => true,
    (error: unknown) => {
      if (sqlState(error) === nothingEnded) return false;
      throw error;
    },
  );
};

export const announce = async (db: Executor, channel: string, payload: string): Promise<void> => {
  await db.execute(sql`SELECT pg_notify(${channel}, ${payload})`);
};

const answerColumns = {
  id: history.id,
  ai: history.ai,
  reasoning: history.reasoning,
  parts: history.parts,
  tools: history.tools,
  thoughtMs: history.thoughtMs,
  state: history.state,
  errorCode: history.errorCode,
  errorMessage: history.errorMessage,
  owner: history.owner,
  temporary: sessions.temporary,
};
export type ReplyRow = Awaited<ReturnType<typeof readReplies>>[number];

export const readReplies = (db: Executor, ids: readonly number[]) =>
  db
    .select(answerColumns)
    .from(history)
    .innerJoin(sessions, eq(sessions.id, history.sessionId))
    .where(inArray(history.id, ids));

const bytes = statement<{ bytes: number }>(
  'reply_bytes',
  // Known without the texts being read.
  'SELECT octet_length(ai) + octet_length(reasoning) AS bytes FROM history WHERE id = $1',
);

/** How long a reply is. */
export const bytesOfReply = async (db: Executor, id: number): Promise<number> =>
  (await bytes(db, [id]))[0]?.bytes ?? 0;

/** The replies that are being written, of any process. */
export const runningReplies = (db: Executor) =>
  db
    .select({ id: history.id, owner: history.owner })
    .from(history)
    .where(eq(history.state, 'streaming'));

export const readUnfinished = async (db: Executor, id: number) => {
  const rows = await db
    .select({
      ...answerColumns,
      sessionId: history.sessionId,
      userId: history.userId,
      human: history.human,
      model: history.model,
      holdId: history.holdId,
      promptTokens: history.promptTokens,
      stopRequested: history.stopRequested,
      sources: history.sources,
      sessionUuid: sessions.uuid,
    })
    .from(history)
    .innerJoin(sessions, eq(sessions.id, history.sessionId))
    .where(and(eq(history.id, id), eq(history.state, 'streaming')));
  return rows[0] ?? null;
};

/** Asks whichever process writes the reply to stop. */
export const requestStop = async (db: Executor, id: number): Promise<void> => {
  await db
    .update(history)
    .set({ stopRequested: true })
    .where(and(eq(history.id, id), eq(history.state, 'streaming')));
  await announce(db, stopChannel, String(id));
};

/** The replies that are being written in a session. */
export const runningIn = async (db: Executor, sessionId: number): Promise<number[]> => {
  const rows = await db
    .select({ id: history.id })
    .from(history)
    .where(and(eq(history.sessionId, sessionId), eq(history.state, 'streaming')));
  return rows.map((row) => row.id);
};

/** How replies stand, with what is told of them to those who asked. */
export const readForNews = (db: Executor, ids: readonly number[]) =>
  db
    .select({
      id: history.id,
      userId: history.userId,
      state: history.state,
      // Its beginning is enough, and the whole may be long.
      beginning: sql<string>`left(${history.ai}, 2000)`,
      errorMessage: history.errorMessage,
      deductTokens: history.deductTokens,
      sessionUuid: sessions.uuid,
      title: sessions.prompt,
      temporary: sessions.temporary,
    })
    .from(history)
    .innerJoin(sessions, eq(sessions.id, history.sessionId))
    .where(and(inArray(history.id, ids), isNull(sessions.deletedAt)));
