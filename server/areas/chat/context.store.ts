import { and, asc, desc, eq, gt, inArray, isNotNull, lt, lte, ne, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { history, sessions } from '#server/db/schema.ts';
import { sessionSummaries } from './chat.tables.ts';

/** Exchanges that are looked at for the sake of their sizes: of older ones nothing is told. */
const mostSized = 5000;

/** What the older messages of a session were condensed into. */
export interface Summary {
  text: string;
  /** How many messages it is made of, and the newest of them. */
  count: number;
  upTo: number;
  edited: boolean;
  madeAt: Date;
  /** It was made without a press; and what it took, tokens. */
  auto: boolean;
  tokens: number;
}

/** Null: there is none, or it is made of messages that are not shown now. */
export const readSummary = async (db: Executor, sessionId: number): Promise<Summary | null> => {
  const { text, covered, edited, madeAt, auto, tokens } = sessionSummaries;
  const [row] = await db
    .select({
      text,
      covered,
      edited,
      madeAt,
      auto,
      tokens,
      shown: sql<number>`(SELECT count(*)::int FROM ${history} h
        WHERE h.session_id = ${sessionId} AND h.shown AND h.id = ANY(${covered}))`,
    })
    .from(sessionSummaries)
    .where(eq(sessionSummaries.sessionId, sessionId));
  if (!row || row.shown !== row.covered.length) return null;
  return {
    text: row.text,
    count: row.covered.length,
    upTo: Math.max(...row.covered),
    edited: row.edited,
    madeAt: row.madeAt,
    auto: row.auto,
    tokens: row.tokens,
  };
};

/** Exchanges among which the last one with files is looked for. */
const mostPassed = 100;

/** The last exchange before a message that came with files; null: none of the latest did. */
export const lastWithFiles = async (
  db: Executor,
  sessionId: number,
  before: number,
): Promise<number | null> => {
  const passed = db
    .select({ id: history.id, file: sql`${history.request} #> '{files,0}'`.as('file') })
    .from(history)
    .where(and(answered(sessionId, 0), lt(history.id, before)))
    .orderBy(desc(history.id))
    .limit(mostPassed)
    .as('passed');
  const [row] = await db
    .select({ id: passed.id })
    .from(passed)
    .where(isNotNull(passed.file))
    .orderBy(desc(passed.id))
    .limit(1);
  return row?.id ?? null;
};

/** A message is gone or says something else: what was made of its words goes with it. */
export const forgetSummaryOf = async (
  tx: Transaction,
  { id, sessionId }: { id: number; sessionId: number },
): Promise<void> => {
  await tx
    .delete(sessionSummaries)
    .where(and(eq(sessionSummaries.sessionId, sessionId), sql`${id} = ANY(covered)`));
};

/**
 * Puts a summary in the place of the one that was there, and has the model read from there on.
 * @param more numbers of messages beside those that it is made of already; `anew`: instead of them
 */
export const putSummary = async (
  tx: Transaction,
  sessionId: number,
  {
    text,
    more,
    anew,
    tokens,
    auto,
  }: { text: string; more: readonly number[]; anew: boolean; tokens: number; auto: boolean },
): Promise<void> => {
  const added = sql`${sql.param(`{${more.join(',')}}`)}::bigint[]`;
  await tx
    .insert(sessionSummaries)
    .values({ sessionId, text, covered: added as never, tokens, auto })
    .onConflictDoUpdate({
      target: sessionSummaries.sessionId,
      set: {
        text,
        covered: anew ? added : sql`session_summaries.covered || ${added}`,
        edited: false,
        auto,
        tokens: anew ? tokens : sql`session_summaries.tokens + ${tokens}`,
        madeAt: sql`now()`,
      },
    });
  await setReadFrom(tx, sessionId, Math.max(...more) + 1);
};

/** Its person's own words for it; empty: it goes. */
export const editSummary = async (
  tx: Transaction,
  sessionId: number,
  text: string,
): Promise<void> => {
  const ofSession = eq(sessionSummaries.sessionId, sessionId);
  if (text === '') await tx.delete(sessionSummaries).where(ofSession);
  else await tx.update(sessionSummaries).set({ text, edited: true }).where(ofSession);
};

/** From which message on the session is read; null: its last few exchanges. */
export const setReadFrom = async (
  tx: Transaction,
  sessionId: number,
  readFrom: number | null,
): Promise<void> => {
  await tx.update(sessions).set({ readFrom }).where(eq(sessions.id, sessionId));
};

/** How long a process that condenses may say nothing before another one may, seconds. */
const condensingSeconds = 300;

/** Takes a session to be condensed, or keeps it (`again`); false: somebody else has it. */
export const takeCondensing = async (
  db: Executor,
  sessionId: number,
  { again = false } = {},
): Promise<boolean> => {
  const free = sql`coalesce(${sessions.condensingUntil} < now(), true)`;
  const { rowCount } = await db
    .update(sessions)
    .set({ condensingUntil: sql`now() + ${condensingSeconds} * interval '1 second'` })
    .where(and(eq(sessions.id, sessionId), again ? undefined : free));
  return (rowCount ?? 0) > 0;
};

export const endCondensing = async (db: Executor, sessionId: number): Promise<void> => {
  await db.update(sessions).set({ condensingUntil: null }).where(eq(sessions.id, sessionId));
};

export const isCondensing = async (db: Executor, sessionId: number): Promise<boolean> => {
  const rows = await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, sessionId), gt(sessions.condensingUntil, sql`now()`)));
  return rows.length > 0;
};

const answered = (sessionId: number, after: number) =>
  and(
    eq(history.sessionId, sessionId),
    history.shown,
    ne(history.ai, ''),
    ne(history.state, 'streaming'),
    gt(history.id, after),
  );

/** How long the shown exchanges behind a message (0: all) are, newest first: characters and bytes. */
export const exchangeSizes = (db: Executor, sessionId: number, after: number) =>
  db
    .select({
      id: history.id,
      chars: sql<number>`length(${history.human}) + length(${history.ai})`,
      bytes: sql<number>`octet_length(${history.human}) + octet_length(${history.ai})`,
    })
    .from(history)
    .where(answered(sessionId, after))
    .orderBy(desc(history.id))
    .limit(mostSized);

export type Size = Awaited<ReturnType<typeof exchangeSizes>>[number];

/** The words of the shown exchanges between two messages, oldest first. */
export const exchangeWords = (
  db: Executor,
  sessionId: number,
  { after, upTo }: { after: number; upTo: number },
) =>
  db
    .select({ id: history.id, human: history.human, ai: history.ai })
    .from(history)
    .where(and(answered(sessionId, after), lte(history.id, upTo)))
    .orderBy(asc(history.id));

/** Whether all of these are shown in the session still. */
export const allShown = async (
  db: Executor,
  sessionId: number,
  ids: readonly number[],
): Promise<boolean> =>
  (await db.$count(history, and(answered(sessionId, 0), inArray(history.id, [...ids])))) ===
  ids.length;

/** Tokens of the prompts of a session's replies, and how many of them came from caches. */
export const cacheUse = async (
  db: Executor,
  sessionId: number,
): Promise<{ prompt: number; cached: number }> => {
  const [row] = await db
    .select({
      prompt: sql<number>`coalesce(sum(${history.promptTokens}), 0)::float8`,
      cached: sql<number>`coalesce(sum(${history.cachedTokens}), 0)::float8`,
    })
    .from(history)
    .where(eq(history.sessionId, sessionId));
  return row ?? { prompt: 0, cached: 0 };
};
