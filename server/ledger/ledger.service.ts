import { randomUUID } from 'node:crypto';
import { limits } from '../../contract/limits.ts';
import type { Consumption } from '../../contract/ledger.ts';
import type { Database, Executor, Transaction } from '../db/database.ts';
import { committing, inTransaction, withCommit } from '../db/in-transaction.ts';
import * as store from './ledger.store.ts';
import { vipMonthStart } from './vip-month.ts';

/** No hold lives longer than this, ms: 15 minutes less the time until its end is noticed. */
export const holdLifetime = 14 * 60_000;

interface Pots {
  balance: number;
  vip: number;
}

/** A locked wallet with the changes made to it so far; `save` writes them and their entries. */
export interface OpenWallet {
  pots: Pots;
  move: (
    kind: store.LedgerEntry['kind'],
    amounts: Pots,
    reference?: string,
    remark?: string,
  ) => void;
  save: (more?: Pick<store.WalletChange, 'hold' | 'consumption'>) => Promise<void>;
  /** Start of the running VIP month; null without a membership. */
  vipPeriod: Date | null;
}

const vipPeriodOf = (row: store.WalletRow): Date | null =>
  row.vipActivatedAt && row.vipExpiredAt && row.vipExpiredAt > row.now
    ? vipMonthStart(row.vipActivatedAt, row.now)
    : null;

const sameTime = (a: Date | null, b: Date | null): boolean => a?.getTime() === b?.getTime();

/**
 * Brings the VIP's pot of a locked wallet to the running month (what the last month left expires,
 * 250k tokens come), and gives what changes it.
 */
const openedWallet = (tx: Transaction, userId: number, row: store.WalletRow): OpenWallet => {
  const pots: Pots = { balance: row.balance, vip: row.vipBalance };
  const entries: store.LedgerEntry[] = [];
  const vipPeriod = vipPeriodOf(row);
  const move: OpenWallet['move'] = (kind, amounts, reference = '', remark = '') => {
    pots.balance += amounts.balance;
    pots.vip += amounts.vip;
    for (const [pot, amount] of [
      ['vip', amounts.vip],
      ['balance', amounts.balance],
    ] as const) {
      if (amount !== 0) entries.push({ pot, kind, amount, reference, remark });
    }
  };
  const turned = !sameTime(vipPeriod, row.vipPeriod);
  if (turned) {
    move('expire', { balance: 0, vip: -pots.vip });
    if (vipPeriod) move('grant', { balance: 0, vip: limits.vipMonthlyTokens }, '', '会员每月赠送');
  }
  return {
    pots,
    move,
    vipPeriod,
    save: async (more = {}) => {
      if (entries.length === 0 && !turned && !more.hold) return;
      const wallet = { balance: pots.balance, vipBalance: pots.vip, vipPeriod };
      await store.saveWallet(tx, userId, { wallet, entries, ...more });
    },
  };
};

/** Locks the wallet. Null for a person without one, as guests are. */
export const openLocked = async (tx: Transaction, userId: number): Promise<OpenWallet | null> => {
  const row = await store.lockWallet(tx, userId);
  return row && openedWallet(tx, userId, row);
};

/** How an amount is taken: the VIP's pot first, then the balance, and no more than there is. */
const take = (pots: Pots, amount: number, vipAllowed: boolean): Pots => {
  const vip = vipAllowed ? Math.min(amount, pots.vip) : 0;
  return { vip, balance: Math.min(amount - vip, pots.balance) };
};

const sum = (pots: Pots): number => pots.balance + pots.vip;
const minus = (pots: Pots): Pots => ({ balance: -pots.balance, vip: -pots.vip });

const wholeTokens = (amount: number): number => {
  if (!Number.isSafeInteger(amount) || amount < 0) {
    throw new RangeError(`not a number of tokens: ${amount}`);
  }
  return amount;
};

/** Makes a person's wallet with its first tokens; does nothing if there is one. */
export const openWallet = (db: Executor, userId: number, grantTokens: number): Promise<void> =>
  inTransaction(db, async (tx) => {
    if (!(await store.insertWallet(tx, userId))) return;
    const wallet = await openLocked(tx, userId);
    wallet?.move('grant', { balance: wholeTokens(grantTokens), vip: 0 }, '', '注册赠送');
    await wallet?.save();
  });

/** What can be spent now, in tokens. Zero without a wallet. */
export const balances = async (db: Executor, userId: number): Promise<Pots> => {
  const row = await store.readWallet(db, userId);
  if (!row) return { balance: 0, vip: 0 };
  if (sameTime(vipPeriodOf(row), row.vipPeriod)) {
    return { balance: row.balance, vip: row.vipBalance };
  }
  return inTransaction(db, async (tx) => {
    const wallet = await openLocked(tx, userId);
    await wallet?.save();
    return wallet?.pots ?? { balance: 0, vip: 0 };
  });
};

export interface HoldRequest {
  /** Of the hold to be; one is made otherwise. */
  id?: string;
  userId: number;
  amount: number;
  /** What it is for, such as `history:12`. */
  reference: string;
  ttlMs?: number;
  /** False: the VIP's pot may not pay (models that the membership excludes). */
  vipAllowed?: boolean;
  /** Where it is locked in this transaction already, and nothing was changed in it. */
  wallet?: OpenWallet | null;
}

/** Sets an amount aside and gives the hold's id; null when there is not enough. */
export const hold = (db: Executor, request: HoldRequest): Promise<string | null> =>
  inTransaction(db, async (tx) => {
    const { userId, reference, vipAllowed = true } = request;
    const amount = wholeTokens(request.amount);
    const { wallet = await openLocked(tx, userId) } = request;
    if (!wallet) return null;
    const taken = take(wallet.pots, amount, vipAllowed);
    if (sum(taken) !== amount) {
      await wallet.save();
      return null;
    }
    const id = request.id ?? randomUUID();
    wallet.move('hold', minus(taken), id);
    const ttlMs = Math.min(request.ttlMs ?? holdLifetime, holdLifetime);
    const made = {
      id,
      ...taken,
      vipAllowed,
      spent: null,
      state: 'open' as const,
      reference,
      ttlMs,
    };
    await withCommit(tx, wallet.save({ hold: made }));
    return id;
  });

/** The hold while its wallet is locked, so that nobody else can end it. */
const openHold = async (tx: Transaction, holdId: string) => {
  const found = await store.lockHold(tx, holdId);
  if (!found) return null;
  const { wallet, held } = found;
  return { wallet: openedWallet(tx, held.userId, wallet), held };
};

/** Sets more aside; false, and nothing happens, when there is not enough or the hold has ended. */
export const extendHold = (db: Database, holdId: string, more: number): Promise<boolean> =>
  committing(db, async (tx) => {
    const amount = wholeTokens(more);
    const open = await openHold(tx, holdId);
    if (!open) return async () => false;
    const { wallet, held } = open;
    const taken = take(wallet.pots, amount, held.vipAllowed);
    const enough = held.state === 'open' && sum(taken) === amount;
    if (!enough) {
      return async () => {
        await wallet.save();
        return false;
      };
    }
    wallet.move('hold', minus(taken), holdId);
    const balance = held.balance + taken.balance;
    return async () => {
      await wallet.save({ hold: { ...held, balance, vip: held.vip + taken.vip } });
      return true;
    };
  });

/** Puts back what was held; VIP tokens of a month that has ended may still be spent, up to `keep`. */
const putBack = (wallet: OpenWallet, held: store.HoldRow, spend: number): Pots => {
  wallet.move('release', { balance: held.balance, vip: held.vip }, held.id);
  const stale = held.vip > 0 && (!wallet.vipPeriod || held.createdAt < wallet.vipPeriod);
  if (!stale) return { balance: 0, vip: 0 };
  const spent = { balance: 0, vip: Math.min(spend, held.vip) };
  wallet.move('spend', minus(spent), held.id);
  wallet.move('expire', { balance: 0, vip: spent.vip - held.vip }, held.id);
  return spent;
};

export interface Settlement {
  /** Tokens taken: the actual amount, or all there was. */
  spent: number;
  /** What could be spent just before, the hold included. */
  balanceBefore: number;
}

/** What a spend was for, as its owner may read it (document 3 §3). */
export type SpendRecord = Pick<
  Consumption,
  'type' | 'model' | 'human' | 'prompt_tokens' | 'completion_tokens'
>;

/**
 * Ends a hold by taking what was used, and writes it down for its owner when it was anything. A hold
 * that has ended is left as it is. Nothing is written before `save`, which may be sent along with a
 * transaction's last statement.
 */
export const settling = async (
  tx: Transaction,
  holdId: string,
  actual: number,
  record?: SpendRecord,
): Promise<Settlement & { save: () => Promise<void> }> => {
  const amount = wholeTokens(actual);
  const open = await openHold(tx, holdId);
  if (!open) return { spent: 0, balanceBefore: 0, save: async () => {} };
  const { wallet, held } = open;
  if (held.state !== 'open') {
    const spent = held.spent ?? 0;
    return { spent, balanceBefore: sum(wallet.pots) + spent, save: () => wallet.save() };
  }
  const balanceBefore = sum(wallet.pots) + held.balance + held.vip;
  const fromLastMonth = putBack(wallet, held, amount);
  const taken = take(wallet.pots, amount - sum(fromLastMonth), held.vipAllowed);
  wallet.move('spend', minus(taken), holdId);
  const spent = sum(taken) + sum(fromLastMonth);
  const consumption = record &&
    spent > 0 && {
      type: record.type,
      model: record.model,
      human: record.human,
      promptTokens: record.prompt_tokens,
      completionTokens: record.completion_tokens,
      deductTokens: spent,
      currentBalance: balanceBefore,
    };
  const change = {
    hold: { ...held, state: 'settled' as const, spent },
    consumption: consumption || undefined,
  };
  return { spent, balanceBefore, save: () => wallet.save(change) };
};

/** The same in one go. */
export const settle = (
  db: Executor,
  holdId: string,
  actual: number,
  record?: SpendRecord,
): Promise<Settlement> =>
  inTransaction(db, async (tx) => {
    const { save, ...settlement } = await settling(tx, holdId, actual, record);
    await save();
    return settlement;
  });

/** Ends a hold without taking anything. A hold that has ended is left as it is. */
export const release = (db: Executor, holdId: string): Promise<void> =>
  inTransaction(db, async (tx) => {
    const open = await openHold(tx, holdId);
    if (!open) return;
    if (open.held.state !== 'open') return open.wallet.save();
    putBack(open.wallet, open.held, 0);
    await open.wallet.save({ hold: { ...open.held, state: 'released', spent: null } });
  });

/** Releases the holds whose time is over; gives how many. */
export const releaseExpired = async (db: Executor): Promise<number> => {
  const expired = await store.expiredHolds(db, 100);
  for (const holdId of expired) await release(db, holdId);
  return expired.length;
};

/** Adds tokens to the balance. */
export const grant = (
  db: Executor,
  userId: number,
  amount: number,
  remark: string,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const wallet = await openLocked(tx, userId);
    if (!wallet) throw new Error(`user ${userId} has no wallet`);
    wallet.move('grant', { balance: wholeTokens(amount), vip: 0 }, '', remark);
    await wallet.save();
  });

/** Moves the whole balance to another person; what the VIP's pot holds stays. */
export const transferAll = (db: Executor, fromUser: number, toUser: number): Promise<void> =>
  inTransaction(db, async (tx) => {
    if (fromUser === toUser) return;
    // Locked in the order of ids, so that two transfers cannot wait for each other.
    const first = await openLocked(tx, Math.min(fromUser, toUser));
    const second = await openLocked(tx, Math.max(fromUser, toUser));
    const [from, to] = fromUser < toUser ? [first, second] : [second, first];
    if (!from || !to) return;
    const amount = from.pots.balance;
    from.move('transfer', { balance: -amount, vip: 0 }, `user:${toUser}`);
    to.move('transfer', { balance: amount, vip: 0 }, `user:${fromUser}`);
    await from.save();
    await to.save();
  });

/** How many of the newest spends can be paged through. */
const transactionWindow = 2000;

/** A page of a person's spends, newest first. */
export const transactions = async (
  db: Executor,
  userId: number,
  { page, model }: { page: number; model?: string },
) => {
  const pageSize = limits.pageSize;
  const { list, counts } = await store.consumptionPage(db, userId, model, {
    window: transactionWindow,
    offset: Math.min((page - 1) * pageSize, transactionWindow),
    limit: pageSize,
  });
  const total = counts
    .filter((row) => model === undefined || row.model === model)
    .reduce((count, row) => count + row.count, 0);
  return {
    list: list.map((row): Consumption => ({
      id: row.id,
      created_at: row.createdAt.toISOString(),
      type: row.type,
      model: row.model,
      human: row.human,
      prompt_tokens: row.promptTokens,
      completion_tokens: row.completionTokens,
      deduct_tokens: row.deductTokens,
      current_balance: row.currentBalance,
    })),
    models: counts.map((row) => row.model),
    page,
    page_count: Math.ceil(total / pageSize),
    page_size: pageSize,
    total,
  };
};
