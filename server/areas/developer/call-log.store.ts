import { and, desc, eq, getTableColumns, lt, or, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Executor, Transaction } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import { apiCalls, apiKeys } from './developer.tables.ts';

export type LoggedCall = typeof apiCalls.$inferInsert;

/** How long they are kept. */
const lifetime = sql.raw(`interval '30 days'`);

const columns = Object.entries(getTableColumns(apiCalls)) as [keyof LoggedCall, PgColumn][];
// Built once: drizzle would build a parameter for every value of every call.
const insertAll = statement(
  'api_calls_log',
  `INSERT INTO api_calls (${columns.map(([, { name }]) => name).join(', ')})
   SELECT * FROM unnest(${columns.map(([, it], at) => `$${at + 1}::${it.getSQLType()}[]`).join(', ')})`,
);

export const insertCalls = async (db: Executor, calls: readonly LoggedCall[]): Promise<void> => {
  await insertAll(
    db,
    columns.map(([key]) => calls.map((call) => call[key] ?? null)),
  );
};

export interface CallFilter {
  keyId?: number | undefined;
  failed?: boolean | undefined;
  /** Those before this one. */
  before?: { at: Date; id: string } | undefined;
}

/** A person's calls without their words, newest first. */
export const callsOf = (db: Executor, userId: number, filter: CallFilter, most: number) => {
  const { keyId, failed, before } = filter;
  return db
    .select({
      id: apiCalls.id,
      begunAt: apiCalls.begunAt,
      keyId: apiCalls.keyId,
      key: sql<string>`CASE WHEN ${apiKeys.name} = '' THEN ${apiKeys.mask} ELSE ${apiKeys.name} END`,
      path: apiCalls.path,
      model: apiCalls.model,
      status: apiCalls.status,
      failure: apiCalls.failure,
      firstMs: apiCalls.firstMs,
      ms: apiCalls.ms,
      promptTokens: apiCalls.promptTokens,
      cachedTokens: apiCalls.cachedTokens,
      completionTokens: apiCalls.completionTokens,
      reasoningTokens: apiCalls.reasoningTokens,
      deductTokens: apiCalls.deductTokens,
      hasBodies: sql<boolean>`${apiCalls.request} IS NOT NULL`,
    })
    .from(apiCalls)
    .innerJoin(apiKeys, eq(apiKeys.id, apiCalls.keyId))
    .where(
      and(
        eq(apiCalls.userId, userId),
        keyId === undefined ? undefined : eq(apiCalls.keyId, keyId),
        failed ? sql`${apiCalls.status} >= 400` : undefined,
        before &&
          or(
            lt(apiCalls.begunAt, before.at),
            and(eq(apiCalls.begunAt, before.at), sql`${apiCalls.id} > ${before.id}::uuid`),
          ),
      ),
    )
    .orderBy(desc(apiCalls.begunAt), apiCalls.id)
    .limit(most);
};

/** The time of a person's call, to go on from; null: there is none. */
export const callAt = async (db: Executor, userId: number, id: string): Promise<Date | null> => {
  const [row] = await db
    .select({ at: apiCalls.begunAt })
    .from(apiCalls)
    .where(and(eq(apiCalls.id, id), eq(apiCalls.userId, userId)));
  return row?.at ?? null;
};

/** What a person asked and was answered; null: there is no such call. */
export const bodiesOf = async (db: Executor, userId: number, id: string) => {
  const [row] = await db
    .select({ request: apiCalls.request, answer: apiCalls.answer })
    .from(apiCalls)
    .where(and(eq(apiCalls.id, id), eq(apiCalls.userId, userId)));
  return row ?? null;
};

/** Forgets all calls of a person. */
export const deleteCallsOf = async (db: Executor, userId: number): Promise<void> => {
  await db.delete(apiCalls).where(eq(apiCalls.userId, userId));
};

export const dropOldNotes = async (tx: Transaction): Promise<void> => {
  await tx.execute(sql`DELETE FROM ${apiCalls} WHERE id IN (
    SELECT id FROM ${apiCalls} WHERE begun_at < now() - ${lifetime} LIMIT 10000)`);
};
