import { and, desc, eq, lt, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { consumptions, holds, type ledger, wallets } from '../db/schema.ts';
import { statement } from '../db/statement.ts';

export type LedgerEntry = Pick<
  typeof ledger.$inferSelect,
  'pot' | 'kind' | 'amount' | 'reference' | 'remark'
>;
export type HoldRow = Omit<typeof holds.$inferSelect, 'reference' | 'expiresAt'>;

export interface WalletRow {
  balance: number;
  vipBalance: number;
  vipPeriod: Date | null;
  vipActivatedAt: Date | null;
  vipExpiredAt: Date | null;
  /** The database's clock: several servers must agree on when a month begins. */
  now: Date;
}

interface RawWallet {
  balance: number;
  vip_balance: number;
  vip_period: Date | null;
  vip_activated_at: Date | null;
  vip_expired_at: Date | null;
  now: Date;
}
interface RawHold {
  id: string;
  user_id: number;
  held_balance: number;
  held_vip: number;
  vip_allowed: boolean;
  spent: number | null;
  state: HoldRow['state'];
  created_at: Date;
}

const walletFields = `w.balance::float8, w.vip_balance::float8, w.vip_period,
  u.vip_activated_at, u.vip_expired_at, now()`;
const walletAsIs = statement<RawWallet>(
  'wallet_of',
  `SELECT ${walletFields} FROM wallets w JOIN users u ON u.id = w.user_id WHERE w.user_id = $1`,
  { shared: true },
);
const walletForUpdate = statement<RawWallet>(
  'wallet_for_update',
  `SELECT ${walletFields} FROM wallets w JOIN users u ON u.id = w.user_id
   WHERE w.user_id = $1 FOR UPDATE OF w`,
);
const holdForUpdate = statement<RawWallet & RawHold>(
  'hold_for_update',
  `SELECT ${walletFields}, h.id, h.user_id::float8, h.balance::float8 AS held_balance,
     h.vip::float8 AS held_vip, h.vip_allowed, h.spent::float8, h.state, h.created_at
   FROM holds h JOIN wallets w ON w.user_id = h.user_id JOIN users u ON u.id = h.user_id
   WHERE h.id = $1 FOR UPDATE OF w, h`,
);

const walletOf = (row: RawWallet): WalletRow => ({
  balance: row.balance,
  vipBalance: row.vip_balance,
  vipPeriod: row.vip_period,
  vipActivatedAt: row.vip_activated_at,
  vipExpiredAt: row.vip_expired_at,
  now: row.now,
});

export const readWallet = async (db: Executor, userId: number): Promise<WalletRow | null> => {
  const [row] = await walletAsIs(db, [userId]);
  return row ? walletOf(row) : null;
};

/** Reads the wallet and keeps every other change of it waiting until the transaction ends. */
export const lockWallet = async (tx: Transaction, userId: number): Promise<WalletRow | null> => {
  const [row] = await walletForUpdate(tx, [userId]);
  return row ? walletOf(row) : null;
};

/** The same with a hold on it, so that nobody else can end the hold. */
export const lockHold = async (
  tx: Transaction,
  holdId: string,
): Promise<{ wallet: WalletRow; held: HoldRow } | null> => {
  const [row] = await holdForUpdate(tx, [holdId]);
  if (!row) return null;
  return {
    wallet: walletOf(row),
    held: {
      id: row.id,
      userId: row.user_id,
      balance: row.held_balance,
      vip: row.held_vip,
      vipAllowed: row.vip_allowed,
      spent: row.spent,
      state: row.state,
      createdAt: row.created_at,
    },
  };
};

export const insertWallet = async (db: Executor, userId: number): Promise<boolean> => {
  const result = await db.insert(wallets).values({ userId }).onConflictDoNothing();
  return (result.rowCount ?? 0) > 0;
};

const saveAll = statement(
  'wallet_save',
  `WITH wallet AS (
     UPDATE wallets SET balance = $2, vip_balance = $3, vip_period = $4 WHERE user_id = $1
   ), entries AS (
     INSERT INTO ledger (user_id, pot, kind, amount, reference, remark)
     SELECT $1, entry.* FROM unnest($5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[])
       AS entry
   ), hold AS (
     INSERT INTO holds (id, user_id, balance, vip, vip_allowed, spent, state, reference, expires_at)
     SELECT $10::uuid, $1, $11::bigint, $12::bigint, $13::boolean, $14::bigint, $15::text,
       $16::text, now() + $17::float8 * interval '1 millisecond' WHERE $10::uuid IS NOT NULL
     ON CONFLICT (id) DO UPDATE SET balance = excluded.balance, vip = excluded.vip,
       spent = excluded.spent, state = excluded.state
   )
   INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
     deduct_tokens, current_balance)
   SELECT $1, $18::smallint, $19::text, $20::text, $21::int, $22::int, $23::bigint, $24::bigint
   WHERE $18::smallint IS NOT NULL`,
);

export interface WalletChange {
  wallet: Pick<WalletRow, 'balance' | 'vipBalance' | 'vipPeriod'>;
  entries: readonly LedgerEntry[];
  /** A hold as it is from now on; a new one lives for `ttlMs`. */
  hold?: Omit<HoldRow, 'createdAt' | 'userId'> & { reference?: string; ttlMs?: number };
  consumption?: Omit<typeof consumptions.$inferInsert, 'id' | 'createdAt' | 'userId'>;
}

/** Writes what became of a locked wallet, with everything that belongs to it, in one statement. */
export const saveWallet = async (
  tx: Transaction,
  userId: number,
  { wallet, entries, hold, consumption }: WalletChange,
): Promise<void> => {
  await saveAll(tx, [
    userId,
    wallet.balance,
    wallet.vipBalance,
    wallet.vipPeriod,
    entries.map((entry) => entry.pot),
    entries.map((entry) => entry.kind),
    entries.map((entry) => entry.amount),
    entries.map((entry) => entry.reference),
    entries.map((entry) => entry.remark),
    hold?.id ?? null,
    hold?.balance,
    hold?.vip,
    hold?.vipAllowed,
    hold?.spent,
    hold?.state,
    hold?.reference ?? '',
    hold?.ttlMs ?? 0,
    consumption?.type ?? null,
    consumption?.model,
    consumption?.human,
    consumption?.promptTokens,
    consumption?.completionTokens,
    consumption?.deductTokens,
    consumption?.currentBalance,
  ]);
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
