import { and, eq, inArray, sql } from 'drizzle-orm';
import type { ReplyState } from '../../contract/chat.ts';
import type { Executor, Transaction } from '../db/database.ts';
import { history } from '../db/schema.ts';
import type { AnswerLog } from './answer-log.ts';

/** NOTIFY channels: replies that grew or ended (their ids), and one that shall stop. */
export const changedChannel = 'answers_changed';
export const stopChannel = 'answer_stop';

export interface Flush {
  id: number;
  log: AnswerLog;
  promptTokens: number;
}

/**
 * Stores what many replies have so far and announces it, in one statement. Gives those that are
 * still this owner's, and which of them shall stop.
 */
export const flushAnswers = async (
  db: Executor,
  owner: number,
  flushes: readonly Flush[],
): Promise<Map<number, { stopRequested: boolean }>> => {
  const column = <T>(pick: (flush: Flush) => T) => sql.param(flushes.map(pick));
  const result = await db.execute<{ id: string; stop_requested: boolean }>(sql`
    WITH flushed AS (
      UPDATE history SET ai = new.ai, reasoning = new.reasoning, parts = new.parts::jsonb,
        prompt_tokens = new.prompt_tokens
      FROM unnest(
        ${column((flush) => flush.id)}::bigint[],
        ${column((flush) => flush.log.text)}::text[],
        ${column((flush) => flush.log.reasoning)}::text[],
        ${column((flush) => JSON.stringify(flush.log.parts))}::text[],
        ${column((flush) => flush.promptTokens)}::int[]
      ) AS new (id, ai, reasoning, parts, prompt_tokens)
      WHERE history.id = new.id AND owner = ${owner} AND state = 'streaming'
      RETURNING history.id, stop_requested
    ), told AS (
      SELECT pg_notify(${changedChannel}, string_agg(id::text, ',')) FROM flushed
    )
    SELECT id, stop_requested FROM flushed, told`);
  return new Map(result.rows.map((row) => [Number(row.id), { stopRequested: row.stop_requested }]));
};

/** Writes a reply's last state; false when it is no longer this owner's, or has ended already. */
export const finishAnswer = async (
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
    log: AnswerLog | null;
  },
): Promise<boolean> => {
  const { log, ...rest } = values;
  const result = await tx
    .update(history)
    .set({
      ...rest,
      ...(log ? { ai: log.text, reasoning: log.reasoning, parts: log.parts } : {}),
      owner: null,
      holdId: null,
      answeredAt: sql`now()`,
    })
    .where(and(eq(history.id, id), eq(history.owner, owner), eq(history.state, 'streaming')));
  if ((result.rowCount ?? 0) === 0) return false;
  await announce(tx, changedChannel, String(id));
  return true;
};

export const announce = async (db: Executor, channel: string, payload: string): Promise<void> => {
  await db.execute(sql`SELECT pg_notify(${channel}, ${payload})`);
};

const answerColumns = {
  id: history.id,
  ai: history.ai,
  reasoning: history.reasoning,
  parts: history.parts,
  state: history.state,
  errorCode: history.errorCode,
  errorMessage: history.errorMessage,
};
export type AnswerRow = Awaited<ReturnType<typeof readAnswers>>[number];

export const readAnswers = (db: Executor, ids: readonly number[]) =>
  db.select(answerColumns).from(history).where(inArray(history.id, ids));

/** The replies that are being written, of any process. */
export const runningAnswers = (db: Executor) =>
  db
    .select({ id: history.id, owner: history.owner })
    .from(history)
    .where(eq(history.state, 'streaming'));

export const readUnfinished = async (db: Executor, id: number) => {
  const rows = await db
    .select({
      ...answerColumns,
      owner: history.owner,
      sessionId: history.sessionId,
      userId: history.userId,
      human: history.human,
      model: history.model,
      holdId: history.holdId,
      promptTokens: history.promptTokens,
    })
    .from(history)
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

/** The reply that is being written in a session. */
export const runningIn = async (db: Executor, sessionId: number): Promise<number | null> => {
  const rows = await db
    .select({ id: history.id })
    .from(history)
    .where(and(eq(history.sessionId, sessionId), eq(history.state, 'streaming')));
  return rows[0]?.id ?? null;
};
