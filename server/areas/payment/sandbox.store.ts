import { and, eq, gte, lt, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { sandboxTrades } from './payment.tables.ts';

type Trade = typeof sandboxTrades.$inferSelect;

export const insertTrade = async (
  db: Executor,
  trade: typeof sandboxTrades.$inferInsert,
): Promise<void> => {
  await db.insert(sandboxTrades).values(trade);
};

export const tradeByNumber = async (db: Executor, number: string): Promise<Trade | null> => {
  const [trade] = await db.select().from(sandboxTrades).where(eq(sandboxTrades.number, number));
  return trade ?? null;
};

export const tradeByKey = async (db: Executor, key: string): Promise<Trade | null> => {
  const [trade] = await db.select().from(sandboxTrades).where(eq(sandboxTrades.key, key));
  return trade ?? null;
};

/** Where it was not paid. */
export const closeTrade = async (db: Executor, number: string): Promise<void> => {
  await db
    .update(sandboxTrades)
    .set({ state: 'closed' })
    .where(and(eq(sandboxTrades.number, number), eq(sandboxTrades.state, 'unpaid')));
};

/** Pays it, where that was not done; null cancels it. */
export const settleTrade = async (
  db: Executor,
  key: string,
  transactionId: string | null,
): Promise<void> => {
  await db
    .update(sandboxTrades)
    .set(transactionId ? { state: 'paid', transactionId, paidAt: sql`now()` } : { state: 'closed' })
    .where(and(eq(sandboxTrades.key, key), eq(sandboxTrades.state, 'unpaid')));
};

export const paidWithin = (db: Executor, from: Date, to: Date) =>
  db
    .select({
      number: sandboxTrades.number,
      amount: sandboxTrades.amount,
      transactionId: sandboxTrades.transactionId,
    })
    .from(sandboxTrades)
    .where(
      and(
        eq(sandboxTrades.state, 'paid'),
        gte(sandboxTrades.paidAt, from),
        lt(sandboxTrades.paidAt, to),
      ),
    );
