import { and, desc, eq, lt, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { consumptions, holds, ledger, users, wallets } from '../db/schema.ts';

export type LedgerEntry = Omit<typeof ledger.$inferInsert, 'id' | 'createdAt'>;
export type HoldRow = typeof holds.$inferSelect;

const walletColumns = {
  balance: wallets.balance,
  vipBalance: wallets.vipBalance,
  vipPeriod: wallets.vipPeriod,
  vipActivatedAt: users.vipActivatedAt,
  vipExpiredAt: users.vipExpiredAt,
  /** The database's clock: several servers must agree on when a month begins. */
  now: sql<Date>`now()`.mapWith(wallets.vipPeriod),
};
export type WalletRow = Awaited<ReturnType<typeof readWallet>> & object;

export const readWallet = async (db: Executor, userId: number) => {
  const rows = await db
    .select(walletColumns)
    .from(wallets)
    .innerJoin(users, eq(users.id, wallets.userId))
    .where(eq(wallets.userId, userId));
  return rows[0] ?? null;
};

/** Reads the wallet and keeps every other change of it waiting until the transaction ends. */
export const lockWallet = async (tx: Transaction, userId: number): Promise<WalletRow | null> => {
  const rows = await tx
    .select(walletColumns)
    .from(wallets)
    .innerJoin(users, eq(users.id, wallets.userId))
    .where(eq(wallets.userId, userId))
    .for('update', { of: wallets });
  return rows[0] ?? null;
};

export const insertWallet = async (db: Executor, userId: number): Promise<boolean> => {
  const result = await db.insert(wallets).values({ userId }).onConflictDoNothing();
  return (result.rowCount ?? 0) > 0;
};

export const writeWallet = async (
  tx: Transaction,
  userId: number,
  values: Pick<WalletRow, 'balance' | 'vipBalance' | 'vipPeriod'>,
): Promise<void> => {
  await tx
    .update(wallets)
    .set({
      balance: values.balance,
      vipBalance: values.vipBalance,
      vipPeriod: values.vipPeriod,
    })
    .where(eq(wallets.userId, userId));
};

export const appendLedger = async (tx: Transaction, entries: LedgerEntry[]): Promise<void> => {
  if (entries.length > 0) await tx.insert(ledger).values(entries);
};

export const insertHold = async (
  tx: Transaction,
  hold: Pick<HoldRow, 'id' | 'userId' | 'balance' | 'vip' | 'vipAllowed' | 'reference'>,
  ttlMs: number,
): Promise<void> => {
  await tx
    .insert(holds)
    .values({ ...hold, expiresAt: sql`now() + ${ttlMs} * interval '1 millisecond'` });
};

export const readHold = async (db: Executor, holdId: string): Promise<HoldRow | null> => {
  const rows = await db.select().from(holds).where(eq(holds.id, holdId));
  return rows[0] ?? null;
};

export const addToHold = async (
  tx: Transaction,
  holdId: string,
  balance: number,
  vip: number,
): Promise<void> => {
  await tx
    .update(holds)
    .set({ balance: sql`${holds.balance} + ${balance}`, vip: sql`${holds.vip} + ${vip}` })
    .where(eq(holds.id, holdId));
};

export const endHold = async (
  tx: Transaction,
  holdId: string,
  state: 'settled' | 'released',
  spent: number | null,
): Promise<void> => {
  await tx.update(holds).set({ state, spent }).where(eq(holds.id, holdId));
};

export const expiredHolds = async (db: Executor, limit: number): Promise<string[]> => {
  const rows = await db
    .select({ id: holds.id })
    .from(holds)
    .where(and(eq(holds.state, 'open'), lt(holds.expiresAt, sql`now()`)))
    // Wallets are locked in the order of their persons by all that lock several.
    .orderBy(holds.userId)
    .limit(limit);
  return rows.map((row) => row.id);
};

export const insertConsumption = async (
  tx: Transaction,
  values: Omit<typeof consumptions.$inferInsert, 'id' | 'createdAt'>,
): Promise<void> => {
  await tx.insert(consumptions).values(values);
};

/** The newest spends of a person, `window` of them at most, narrowed to a model. */
export const consumptionPage = async (
  db: Executor,
  userId: number,
  model: string | undefined,
  { window, offset, limit }: { window: number; offset: number; limit: number },
) => {
  const newest = db
    .select()
    .from(consumptions)
    .where(eq(consumptions.userId, userId))
    .orderBy(desc(consumptions.id))
    .limit(window)
    .as('newest');
  const ofModel = model === undefined ? undefined : eq(newest.model, model);
  const list = await db
    .select()
    .from(newest)
    .where(ofModel)
    .orderBy(desc(newest.id))
    .offset(offset)
    .limit(limit);
  const counts = await db
    .select({ model: newest.model, count: sql<number>`count(*)::int` })
    .from(newest)
    .groupBy(newest.model)
    .orderBy(newest.model);
  return { list, counts };
};
