import { randomUUID } from 'node:crypto';
import { limits } from '#contract/limits.ts';
import type { Consumption } from '#contract/ledger.ts';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import { committing, inTransaction, withCommit } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import { timesFactor } from '#contract/price.ts';
import { insertHolds, type NewHold } from './holds-together.ts';
import * as store from './ledger.store.ts';
import { vipMonthStart } from './vip-month.ts';

/** How long a hold lives unless it is asked to live longer, ms: 15 minutes less the time until its end is noticed. */
export const holdLifetime = 14 * 60_000;
/** No hold lives longer than this, ms: a day's work and the time until its end is noticed. */
const longestHold = 25 * 3_600_000;

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
  /** What its owner's group pays of each price. */
  factor: number;
}

const ended = '账号注销';

const sum = (pots: Pots): number => pots.balance + pots.vip;
const minus = (pots: Pots): Pots => ({ balance: -pots.balance, vip: -pots.vip });

const vipPeriodOf = (row: store.WalletRow): Date | null =>
  row.vipActivatedAt && row.vipExpiredAt && row.vipExpiredAt > row.now
    ? vipMonthStart(row.vipActivatedAt, row.now)
    : null;

/** What makes a balance grow for good; what was held and comes back is none. */
const incomes: ReadonlySet<store.LedgerEntry['kind']> = new Set([
  'grant',
  'purchase',
  'adjust',
  'transfer',
]);

const sameTime = (a: Date | null, b: Date | null): boolean => a?.getTime() === b?.getTime();

/**
 * Brings the VIP's pot of a locked wallet to the running month (what the last month left expires,
 * 250k tokens come), and gives what changes it.
 */
const openedWallet = (tx: Transaction, userId: number, row: store.WalletRow): OpenWallet => {
  const pots: Pots = { balance: row.balance, vip: row.vipBalance };
  const entries: store.LedgerEntry[] = [];
  let credited = false;
  const vipPeriod = vipPeriodOf(row);
  const move: OpenWallet['move'] = (kind, amounts, reference = '', remark = '') => {
    pots.balance += amounts.balance;
    pots.vip += amounts.vip;
    if (amounts.balance > 0 && incomes.has(kind)) credited = true;
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
    factor: row.factor,
    save: async (more = {}) => {
      // What was set aside when its account ended, or comes for it later, is nobody's.
      if (row.closed && sum(pots) > 0) move('adjust', minus(pots), `user:${userId}`, ended);
      if (entries.length === 0 && !turned && !more.hold) return;
      const wallet = { balance: pots.balance, vipBalance: pots.vip, vipPeriod };
      await store.saveWallet(tx, userId, { wallet, entries, credited, ...more });
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

interface Purse extends Pots {
  /** A tenth or less is left of what there was, and its owner was not told yet. */
  low: boolean;
  factor: number;
}

/** A tenth of what there was after tokens came last is little. */
const isLow = ({ balance, vip }: Pots, { mark, lowTold }: store.WalletRow): boolean =>
  !lowTold && mark > 0 && (balance + vip) * 10 <= mark;

/** What can be spent now, in tokens, and whether that is little. Zero without a wallet. */
export const purse = async (db: Executor, userId: number): Promise<Purse> => {
  const row = await store.readWallet(db, userId);
  if (!row) return { balance: 0, vip: 0, low: false, factor: 1 };
  let pots: Pots = { balance: row.balance, vip: row.vipBalance };
  if (!sameTime(vipPeriodOf(row), row.vipPeriod))
    pots = await inTransaction(db, async (tx) => {
      const wallet = await openLocked(tx, userId);
      await wallet?.save();
      return wallet?.pots ?? { balance: 0, vip: 0 };
    });
  return { balance: pots.balance, vip: pots.vip, low: isLow(pots, row), factor: row.factor };
};

/** What can be spent now, in tokens. */
export const balances = async (db: Executor, userId: number): Promise<Pots> => {
  const { balance, vip } = await purse(db, userId);
  return { balance, vip };
};

/** Up to which price, before the factor of the person's group, the balance pays. */
export const payable = async (db: Executor, userId: number): Promise<number> => {
  const { balance, factor } = await purse(db, userId);
  return Math.floor(balance / factor);
};

/** Its owner was told that little is left: until tokens come again. */
export const noteLowTold = store.noteLowTold;

export interface HoldRequest {
  /** Of the hold to be; one is made otherwise. */
  id?: string;
  userId: number;
  /** Before the factor of the person's group, as all prices that come here. */
  amount: number;
  /** What it is for, such as `history:12`. */
  reference: string;
  ttlMs?: number;
  /** False: the VIP's pot may not pay (models that the membership excludes). */
  vipAllowed?: boolean;
  /** Where it is locked in this transaction already, and nothing was changed in it. */
  wallet?: OpenWallet | null;
  /** The process that does the work, where nobody goes on with it once that is gone. */
  owner?: number;
}

/** Sets an amount aside and gives the hold's id; null when there is not enough. */
export const hold = (db: Executor, request: HoldRequest): Promise<string | null> =>
  inTransaction(db, async (tx) => {
    const { userId, reference, vipAllowed = true } = request;
    const { wallet = await openLocked(tx, userId) } = request;
    if (!wallet) return null;
    const amount = timesFactor(wholeTokens(request.amount), wallet.factor);
    const taken = take(wallet.pots, amount, vipAllowed);
    if (sum(taken) !== amount) {
      await wallet.save();
      return null;
    }
    const id = request.id ?? randomUUID();
    wallet.move('hold', minus(taken), id);
    const ttlMs = Math.min(request.ttlMs ?? holdLifetime, longestHold);
    const made = {
      id,
      ...taken,
      vipAllowed,
      spent: null,
      state: 'open' as const,
      reference,
      ttlMs,
      owner: request.owner,
    };
    await withCommit(tx, wallet.save({ hold: made }));
    return id;
  });

/** Sets aside what something costs; null: it costs nothing. @throws Refusal balance */
export const holdPrice = async (db: Executor, request: HoldRequest): Promise<string | null> => {
  if (request.amount === 0) return null;
  const id = await hold(db, request);
  if (id === null) throw new Refusal('balance');
  return id;
};

/**
 * Sets amounts of balances alone aside, in one statement; gives the ids of the holds that were made.
 * The VIP's pot plays no part in it.
 * @param options.waits for wallets that others are at work on; they are passed over otherwise
 */
export const holdBalances = (
  db: Executor,
  requests: readonly NewHold[],
  options: { owner: number; waits: boolean },
): Promise<Set<string>> =>
  insertHolds(
    db,
    requests.map((request) => ({ ...request, amount: wholeTokens(request.amount) })),
    { ttlMs: holdLifetime, ...options },
  );

/** The hold while its wallet is locked, so that nobody else can end it. */
const openHold = async (tx: Transaction, holdId: string) => {
  const found = await store.lockHold(tx, holdId);
  if (!found) return null;
  const { wallet, held } = found;
  return { wallet: openedWallet(tx, held.userId, wallet), held };
};

/**
 * Sets more aside, or all there is where that is `least`; gives how much. Null, and nothing happens,
 * when there is not enough or the hold has ended.
 */
export const extendHold = (
  db: Database,
  holdId: string,
  more: number,
  least = more,
): Promise<number | null> =>
  committing(db, async (tx) => {
    const open = await openHold(tx, holdId);
    if (!open) return async () => null;
    const { wallet, held } = open;
    const taking = (amount: number): Pots => take(wallet.pots, amount, held.vipAllowed);
    const wanted = timesFactor(wholeTokens(more), wallet.factor);
    const there = sum(taking(wanted));
    const given = there === wanted ? more : Math.floor(there / wallet.factor);
    if (held.state !== 'open' || given < least) {
      return async () => {
        await wallet.save();
        return null;
      };
    }
    const taken = taking(timesFactor(given, wallet.factor));
    wallet.move('hold', minus(taken), holdId);
    const balance = held.balance + taken.balance;
    return async () => {
      await wallet.save({ hold: { ...held, balance, vip: held.vip + taken.vip } });
      return given;
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
> &
  Pick<store.Use, 'channelId'>;

/** Nothing is written before `save`, which may be sent along with a transaction's last statement. */
type Settling = Settlement & { save: () => Promise<void> };

const settleOpen = (
  wallet: OpenWallet,
  held: store.HoldRow,
  actual: number,
  record?: SpendRecord,
): Settling => {
  const amount = timesFactor(wholeTokens(actual), wallet.factor);
  if (held.state !== 'open') {
    const spent = held.spent ?? 0;
    return { spent, balanceBefore: sum(wallet.pots) + spent, save: () => wallet.save() };
  }
  const balanceBefore = sum(wallet.pots) + held.balance + held.vip;
  const fromLastMonth = putBack(wallet, held, amount);
  const taken = take(wallet.pots, amount - sum(fromLastMonth), held.vipAllowed);
  wallet.move('spend', minus(taken), held.id);
  const spent = sum(taken) + sum(fromLastMonth);
  const consumption = record && {
    type: record.type,
    model: record.model,
    human: record.human,
    promptTokens: record.prompt_tokens,
    completionTokens: record.completion_tokens,
    deductTokens: spent,
    currentBalance: balanceBefore,
    channelId: record.channelId ?? null,
  };
  const change = {
    hold: { ...held, state: 'settled' as const, spent },
    ...(consumption && { consumption }),
  };
  return { spent, balanceBefore, save: () => wallet.save(change) };
};

/**
 * Ends a hold by taking what was used, and writes it down for its owner when it was anything. A hold
 * that has ended is left as it is.
 */
export const settling = async (
  tx: Transaction,
  holdId: string,
  actual: number,
  record?: SpendRecord,
): Promise<Settling> => {
  const open = await openHold(tx, holdId);
  if (!open) return { spent: 0, balanceBefore: 0, save: async () => {} };
  return settleOpen(open.wallet, open.held, actual, record);
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

/**
 * Takes what a job made: from what it holds, or, where it is free, as a use that cost nothing.
 * @returns the tokens that were taken
 */
export const payForMade = async (
  tx: Transaction,
  job: { user_id: number; hold_id: string | null; model: string },
  made: Pick<SpendRecord, 'type' | 'channelId' | 'human'> & { price: number },
): Promise<number> => {
  const { price, human, ...rest } = made;
  const use = { ...rest, model: job.model, prompt_tokens: 0, completion_tokens: 0 };
  if (job.hold_id === null) {
    await countFreeUse(tx, job.user_id, use);
    return 0;
  }
  return (await settle(tx, job.hold_id, price, { ...use, human })).spent;
};

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

/** The work of a hold becomes a job: others go on with it where this process ends. */
export const handOver = store.disownHold;

/**
 * Gives back what is held for work that ended with its process. One that only lost its connection to
 * the database for a moment is not gone: what was seen to be gone twice is.
 */
export const createOrphans = (db: Executor): (() => Promise<void>) => {
  let gone = new Set<number>();
  return async () => {
    const orphans = await store.orphanedHolds(db, 100);
    for (const { id, owner } of orphans) if (gone.has(owner)) await release(db, id);
    gone = new Set(orphans.map(({ owner }) => owner));
  };
};

/** What moves a balance besides spending: its kind, what it belongs to, and words for its owner. */
export interface Movement {
  kind: 'grant' | 'purchase' | 'refund' | 'adjust';
  /** Such as `order:12`. */
  reference: string;
  remark: string;
}

/** Adds tokens to the balance. @throws Error when the person has no wallet */
export const credit = (
  db: Executor,
  userId: number,
  amount: number,
  { kind, reference, remark }: Movement,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const wallet = await openLocked(tx, userId);
    if (!wallet) throw new Error(`user ${userId} has no wallet`);
    wallet.move(kind, { balance: wholeTokens(amount), vip: 0 }, reference, remark);
    await wallet.save();
  });

/**
 * Takes tokens out of the balance, or as many as there are; gives how many. What is held for works
 * that run now is not there to be taken.
 */
export const debit = (
  db: Executor,
  userId: number,
  amount: number,
  { kind, reference, remark }: Movement,
): Promise<number> =>
  inTransaction(db, async (tx) => {
    const wallet = await openLocked(tx, userId);
    if (!wallet) return 0;
    const taken = Math.min(wholeTokens(amount), wallet.pots.balance);
    wallet.move(kind, { balance: -taken, vip: 0 }, reference, remark);
    await wallet.save();
    return taken;
  });

/** Tokens of the balance that are set aside for works that run now. */
export const heldOf = store.heldBalance;

/** Brings the VIP's pot to the membership as it is now: what has changed it calls this. */
export const turnVip = (db: Executor, userId: number): Promise<void> =>
  inTransaction(db, async (tx) => {
    await (await openLocked(tx, userId))?.save();
  });

/** Keeps every other change of a person's tokens and membership waiting. */
export const lockPurse = async (tx: Transaction, userId: number): Promise<void> => {
  await (await openLocked(tx, userId))?.save();
};

/** Empties the wallet of an account that ends; what comes into it from now on is gone, too. */
export const closeWallet = async (tx: Transaction, userId: number): Promise<void> => {
  await store.markClosed(tx, userId);
  await (await openLocked(tx, userId))?.save();
};

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

/** Counts a reply or an image that took nothing, for its person's usage. */
export const countFreeUse = (
  db: Executor,
  userId: number,
  record: Omit<SpendRecord, 'human'>,
): Promise<void> =>
  store.addFreeUse(db, userId, {
    type: record.type,
    model: record.model,
    channelId: record.channelId,
    promptTokens: record.prompt_tokens,
    completionTokens: record.completion_tokens,
  });

/** Writes down a use that delivered nothing: it is a request and an error of its model. */
export const noteFailedUse = (db: Executor, userId: number, use: store.Use): Promise<void> =>
  store.insertFailedUse(db, userId, use);

export { removeOldUses } from './ledger.store.ts';
