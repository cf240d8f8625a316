import { and, desc, eq, gt, gte, isNotNull, lt, sql } from 'drizzle-orm';
import { countUpTo } from '#server/db/count-up-to.ts';
import { ordered } from '#server/db/ordered.ts';
import type { Sorting } from '#server/sorting.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { consumptions, holds, ledger, wallets } from '#server/db/schema.ts';
import { livingLock } from '#server/db/instance.ts';
import { statement } from '#server/db/statement.ts';
import { modelUses, usageDays } from './ledger.tables.ts';

export type LedgerEntry = Pick<
  typeof ledger.$inferSelect,
  'pot' | 'kind' | 'amount' | 'reference' | 'remark'
>;
export type HoldRow = Omit<typeof holds.$inferSelect, 'reference' | 'expiresAt' | 'owner'>;

export interface WalletRow {
  balance: number;
  vipBalance: number;
  vipPeriod: Date | null;
  vipActivatedAt: Date | null;
  vipExpiredAt: Date | null;
  mark: number;
  lowTold: boolean;
  /** Its account has ended. */
  closed: boolean;
  /** What its owner's group pays of each price. */
  factor: number;
  /** The database's clock: several servers must agree on when a month begins. */
  now: Date;
}

interface RawWallet {
  balance: number;
  vip_balance: number;
  vip_period: Date | null;
  vip_activated_at: Date | null;
  vip_expired_at: Date | null;
  mark: number;
  low_told: boolean;
  closed: boolean;
  factor: number;
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
  u.vip_activated_at, u.vip_expired_at, w.mark::float8, w.low_told, w.closed, now(),
  coalesce((SELECT g.factor FROM people_groups g WHERE g.id = u.people_group), 1) AS factor`;
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
const holdsWithWallets = `SELECT ${walletFields}, h.id, h.user_id::float8, h.balance::float8 AS held_balance,
     h.vip::float8 AS held_vip, h.vip_allowed, h.spent::float8, h.state, h.created_at
   FROM holds h JOIN wallets w ON w.user_id = h.user_id JOIN users u ON u.id = h.user_id`;
const holdForUpdate = statement<RawWallet & RawHold>(
  'hold_for_update',
  `${holdsWithWallets} WHERE h.id = $1 FOR UPDATE OF w, h`,
);
const walletOf = (row: RawWallet): WalletRow => ({
  balance: row.balance,
  vipBalance: row.vip_balance,
  vipPeriod: row.vip_period,
  vipActivatedAt: row.vip_activated_at,
  vipExpiredAt: row.vip_expired_at,
  mark: row.mark,
  lowTold: row.low_told,
  closed: row.closed,
  factor: row.factor,
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

/** A hold, locked with its wallet: nobody else can end it. */
export interface LockedHold {
  wallet: WalletRow;
  held: HoldRow;
}

const lockedOf = (row: RawWallet & RawHold): LockedHold => ({
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
});

export const lockHold = async (tx: Transaction, holdId: string): Promise<LockedHold | null> => {
  const [row] = await holdForUpdate(tx, [holdId]);
  return row ? lockedOf(row) : null;
};

export const insertWallet = async (db: Executor, userId: number): Promise<boolean> => {
  const result = await db.insert(wallets).values({ userId }).onConflictDoNothing();
  return (result.rowCount ?? 0) > 0;
};

/** SQL that adds uses to their day: user, type, model, requests, records, tokens of three kinds. */
export const addUse = (values: string, when = 'true'): string => `
     INSERT INTO usage_days (user_id, day, type, model, requests, records, prompt_tokens,
       completion_tokens, deduct_tokens)
     SELECT use.u, (now() AT TIME ZONE 'Asia/Shanghai')::date, use.t, use.m, use.n, use.r, use.p,
       use.c, use.d FROM (SELECT ${values}) AS use (u, t, m, n, r, p, c, d) WHERE ${when}
     ON CONFLICT (user_id, day, type, model) DO UPDATE SET
       requests = usage_days.requests + excluded.requests,
       records = usage_days.records + excluded.records,
       prompt_tokens = usage_days.prompt_tokens + excluded.prompt_tokens,
       completion_tokens = usage_days.completion_tokens + excluded.completion_tokens,
       deduct_tokens = usage_days.deduct_tokens + excluded.deduct_tokens`;

/** SQL that writes down uses: user, type, model, channel, tokens of three kinds. */
export const noteUse = (values: string, when = 'true'): string => `
     INSERT INTO model_uses (user_id, type, model, channel_id, prompt_tokens, completion_tokens,
       deduct_tokens) SELECT ${values} WHERE ${when}`;

const useAlone = statement(
  'usage_add',
  `WITH noted AS (${noteUse('$1::bigint, $2::smallint, $3::text, $6::bigint, $4::int, $5::int, 0')})
   ${addUse('$1::bigint, $2::smallint, $3::text, 1, 0, $4::int, $5::int, 0')}`,
);

/** Counts a use that took nothing. */
export const addFreeUse = async (
  db: Executor,
  userId: number,
  use: Use & { promptTokens: number; completionTokens: number },
): Promise<void> => {
  const { type, model, promptTokens, completionTokens, channelId = null } = use;
  await useAlone(db, [userId, type, model, promptTokens, completionTokens, channelId]);
};

/** What is known of a use of a model before it is known what it took. */
export interface Use {
  /** Of `sessionTypes` or `modelTypes`. */
  type: number;
  model: string;
  /** What served it; none for what is built in. */
  channelId?: number | null | undefined;
}

/** Writes down a use that delivered nothing. */
export const insertFailedUse = async (
  db: Executor,
  userId: number,
  { channelId = null, ...use }: Use,
): Promise<void> => {
  await db.insert(modelUses).values({ ...use, channelId, userId, failed: true });
};

/** Forgets uses longer ago than figures look back, 90 days. */
export const removeOldUses = async (db: Executor): Promise<void> => {
  await db.delete(modelUses).where(lt(modelUses.createdAt, sql`now() - interval '90 days'`));
};

const saveAll = statement(
  'wallet_save',
  `WITH wallet AS (
     UPDATE wallets SET balance = $2, vip_balance = $3, vip_period = $4,
       mark = CASE WHEN $25::boolean THEN $2 ELSE mark END,
       low_told = low_told AND NOT $25::boolean
     WHERE user_id = $1
   ), entries AS (
     INSERT INTO ledger (user_id, pot, kind, amount, reference, remark)
     SELECT $1, entry.* FROM unnest($5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[])
       AS entry
   ), hold AS (
     INSERT INTO holds (id, user_id, balance, vip, vip_allowed, spent, state, reference, expires_at, owner)
     SELECT $10::uuid, $1, $11::bigint, $12::bigint, $13::boolean, $14::bigint, $15::text,
       $16::text, now() + $17::float8 * interval '1 millisecond', $27::bigint WHERE $10::uuid IS NOT NULL
     ON CONFLICT (id) DO UPDATE SET balance = excluded.balance, vip = excluded.vip,
       spent = excluded.spent, state = excluded.state
   ), noted AS (
     ${noteUse('$1, $18::smallint, $19::text, $26::bigint, $21::int, $22::int, $23::bigint', '$18::smallint IS NOT NULL')}
   ), used AS (
     ${addUse('$1, $18::smallint, $19::text, 1, CASE WHEN $23::bigint > 0 THEN 1 ELSE 0 END, $21::int, $22::int, $23::bigint', '$18::smallint IS NOT NULL')}
   )
   INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
     deduct_tokens, current_balance)
   SELECT $1, $18::smallint, $19::text, $20::text, $21::int, $22::int, $23::bigint,
     -- What is set aside for another answer is not spent.
     $24::bigint + (SELECT coalesce(sum(other.balance + other.vip), 0) FROM holds other
       WHERE other.user_id = $1 AND other.state = 'open' AND other.id IS DISTINCT FROM $10::uuid)
   WHERE $18::smallint IS NOT NULL AND $23::bigint > 0`,
);

export interface WalletChange {
  wallet: Pick<WalletRow, 'balance' | 'vipBalance' | 'vipPeriod'>;
  entries: readonly LedgerEntry[];
  /** A hold as it is from now on; a new one lives for `ttlMs`, or as long as its owner. */
  hold?: Omit<HoldRow, 'createdAt' | 'userId'> & {
    reference?: string;
    ttlMs?: number;
    owner?: number | undefined;
  };
  /** Tokens came in: the balance is measured anew from here. */
  credited?: boolean;
  consumption?: Omit<typeof consumptions.$inferInsert, 'id' | 'createdAt' | 'userId'> & {
    channelId: number | null;
  };
}

/** Writes what became of a locked wallet, with everything that belongs to it, in one statement. */
export const saveWallet = async (
  tx: Transaction,
  userId: number,
  { wallet, entries, hold, consumption, credited = false }: WalletChange,
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
    credited,
    consumption?.channelId,
    hold?.owner ?? null,
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

/** Others go on with the work of a hold from now on. */
export const disownHold = async (db: Executor, id: string): Promise<void> => {
  await db.update(holds).set({ owner: null }).where(eq(holds.id, id));
};

/** Open holds of processes that are gone now, and which those are. */
export const orphanedHolds = async (
  db: Executor,
  limit: number,
): Promise<{ id: string; owner: number }[]> => {
  const rows = await db
    .select({ id: holds.id, owner: holds.owner })
    .from(holds)
    .where(
      and(
        eq(holds.state, 'open'),
        isNotNull(holds.owner),
        sql`NOT EXISTS (SELECT FROM pg_locks
          WHERE objid = ${holds.owner}::oid AND ${sql.raw(livingLock)})`,
      ),
    )
    .orderBy(holds.userId)
    .limit(limit);
  return rows.flatMap(({ id, owner }) => (owner === null ? [] : { id, owner }));
};

/** What of a person's balance is held. */
export const heldBalance = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ sum: sql<number>`coalesce(sum(${holds.balance}), 0)::float8` })
    .from(holds)
    .where(and(eq(holds.userId, userId), eq(holds.state, 'open')));
  return row?.sum ?? 0;
};

export interface SpendFilter {
  userId: number;
  model?: string | undefined;
  type?: number | undefined;
  /** China's days, the last one left out. */
  from?: string | undefined;
  to?: string | undefined;
}

const chinaDay = sql`(${consumptions.createdAt} AT TIME ZONE 'Asia/Shanghai')::date`;

const fitting = ({ userId, model, type, from, to }: SpendFilter) =>
  and(
    eq(consumptions.userId, userId),
    model === undefined ? undefined : eq(consumptions.model, model),
    type === undefined ? undefined : eq(consumptions.type, type),
    from === undefined ? undefined : sql`${chinaDay} >= ${from}::date`,
    to === undefined ? undefined : sql`${chinaDay} < ${to}::date`,
  );

const spendSorts = {
  created_at: consumptions.createdAt,
  prompt_tokens: consumptions.promptTokens,
  completion_tokens: consumptions.completionTokens,
  deduct_tokens: consumptions.deductTokens,
  current_balance: consumptions.currentBalance,
};

/** A page of a person's spends, the newest first where no other order is asked for. */
export const consumptionPage = (
  db: Executor,
  filter: SpendFilter,
  { offset, limit }: { offset: number; limit: number },
  sorting: Sorting<'transactionList'>,
) =>
  db
    .select()
    .from(consumptions)
    .where(fitting(filter))
    .orderBy(...ordered(spendSorts, sorting, desc(consumptions.id)))
    .offset(offset)
    .limit(limit);

/** The same from one downwards, for lists of any length. */
export const consumptionsBelow = (
  db: Executor,
  filter: SpendFilter,
  below: number,
  limit: number,
) =>
  db
    .select()
    .from(consumptions)
    .where(and(fitting(filter), lt(consumptions.id, below)))
    .orderBy(desc(consumptions.id))
    .limit(limit);

/** How many spends there are of each kind and model. */
export const spendCounts = (db: Executor, userId: number) =>
  db
    .select({
      type: usageDays.type,
      model: usageDays.model,
      count: sql<number>`sum(${usageDays.records})::int`,
    })
    .from(usageDays)
    .where(and(eq(usageDays.userId, userId), gt(usageDays.records, 0)))
    .groupBy(usageDays.type, usageDays.model)
    .orderBy(usageDays.model);

/** Days of use, the last day left out. */
export const usageBetween = (db: Executor, userId: number, from: string, to: string) =>
  db
    .select()
    .from(usageDays)
    .where(and(eq(usageDays.userId, userId), gte(usageDays.day, from), lt(usageDays.day, to)))
    .orderBy(usageDays.day, usageDays.type, usageDays.model);

/** Requests and tokens by month, YYYY-MM. */
export const usageMonths = (db: Executor, userId: number, from: string, to: string) =>
  db
    .select({
      month: sql<string>`to_char(${usageDays.day}, 'YYYY-MM')`,
      requests: sql<number>`sum(${usageDays.requests})::int`,
      deducted: sql<number>`sum(${usageDays.deductTokens})::float8`,
    })
    .from(usageDays)
    .where(and(eq(usageDays.userId, userId), gte(usageDays.day, from), lt(usageDays.day, to)))
    .groupBy(sql`1`);

export const markClosed = async (tx: Transaction, userId: number): Promise<void> => {
  await tx.update(wallets).set({ closed: true }).where(eq(wallets.userId, userId));
};

export const noteLowTold = async (db: Executor, userId: number): Promise<void> => {
  await db.update(wallets).set({ lowTold: true }).where(eq(wallets.userId, userId));
};

/** Wallets after one, and whether each differs from the sum of its ledger. */
export const compareWallets = async (tx: Executor, after: number, batch: number) => {
  const { rows } = await tx.execute<{ user_id: number; differs: boolean }>(
    sql`SELECT w.user_id::float8 AS user_id,
        w.balance <> sums.balance OR w.vip_balance <> sums.vip AS differs
      FROM (SELECT * FROM wallets WHERE user_id > ${after} ORDER BY user_id LIMIT ${batch}) w,
        LATERAL (SELECT coalesce(sum(amount) FILTER (WHERE pot = 'balance'), 0) AS balance,
            coalesce(sum(amount) FILTER (WHERE pot = 'vip'), 0) AS vip
          FROM ledger WHERE user_id = w.user_id) sums
      ORDER BY 1`,
  );
  return rows;
};

/** Lines of a person's account, the newest first where no other order is asked for. */
export const linesOf = (
  db: Executor,
  userId: number,
  { offset, limit }: { offset: number; limit: number },
  sorting: Sorting<'adminUserLedger'>,
) =>
  db
    .select()
    .from(ledger)
    .where(eq(ledger.userId, userId))
    .orderBy(
      ...ordered({ created_at: ledger.createdAt, amount: ledger.amount }, sorting, desc(ledger.id)),
    )
    .offset(offset)
    .limit(limit);

export const countLines = (db: Executor, userId: number): Promise<number> =>
  countUpTo(db, ledger, eq(ledger.userId, userId));
