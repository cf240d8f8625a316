import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { timesFactor } from '#contract/price.ts';
import { batched } from '#server/db/batched.ts';
import type { Database, Transaction } from '#server/db/database.ts';
import { committing, together } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller } from '#server/http/open-handlers.ts';
import {
  balances,
  countFreeUse,
  extendHold,
  holdLifetime,
  holdBalances,
  noteFailedUse,
  release,
  settling,
  type SpendRecord,
} from '../ledger/ledger.service.ts';
import type { NewHold } from '../ledger/holds-together.ts';
import { endCall, payCalls } from './ended-calls.store.ts';
import { overBound } from './key-bounds.ts';
import { roomOf, roomsOf, takeRoom } from './key-meter.store.ts';

/** What stands among a person's spends for what a program asked: its words are not kept. */
const spentFor = 'API 调用';

/** How long after its hold a call's reservation is given back where nobody ended it, ms. */
const graceMs = 120_000;

export interface Used {
  promptTokens: number;
  completionTokens: number;
  /** Tokens to take, for the prompt and for the rest, before the factor of the caller's group. */
  prompt: number;
  completion: number;
  /** Of the prompt, read from a cache; of the rest, thought. */
  cachedTokens?: number;
  reasoningTokens?: number;
}

/** What is set aside for a call of the API until it ends. */
export interface Charge {
  id: string;
  /** Sets more aside, or all there is; gives how much. @throws Refusal, when there is nothing */
  extend: (more: number) => Promise<number>;
  /** Says which channel is asked. */
  servedBy: (channelId: number) => void;
  /** Takes what was used and counts it; gives what was taken. The answer is what `alongside` gets. */
  settle: (used: Used, answer?: unknown) => Promise<number>;
  /** Gives everything back; where a model was asked, and delivered nothing, that is counted. */
  release: (asked: boolean) => Promise<void>;
}

export const overBalance = () => new ApiRefusal('balance', 'token 余额不足，请在账户页充值后再试');

const attempts = 6;
/** Calls that are paid in one transaction. */
const mostTogether = 32;

/** What a call of this key could set aside now: tokens of money before its group's factor, and tokens as they are counted. */
export const affordable = async (
  db: Database,
  caller: ApiCaller,
): Promise<{ taken: number; tokens: number }> => {
  const { balance } = await balances(db, caller.user.id);
  const left = { taken: balance, tokens: Infinity };
  if (caller.metered)
    for (const { unit, room } of await roomsOf(db, caller.keyId))
      if (unit !== 'requests') left[unit] = Math.min(left[unit], Math.max(0, room));
  return { ...left, taken: Math.floor(left.taken / caller.groupFactor) };
};

const nothing: Used = { promptTokens: 0, completionTokens: 0, prompt: 0, completion: 0 };

interface ChargeDeps {
  db: Database;
  log: Pick<FastifyBaseLogger, 'error'>;
}

/** A call of the API that is to be paid for. */
interface PaidCall {
  model: string;
  type: number;
  /** Tokens of money. */
  amount: number;
  /** Tokens as they are counted, where the key has a bound of them. */
  tokens?: number;
}

interface Opened extends ChargeDeps {
  id: string;
  caller: ApiCaller;
  call: PaidCall;
  /** The channel that was asked last. */
  channelId: number | null;
}

/** Sets aside what the key may use. @throws Refusal, where it may not use so much */
const reserve = async (
  { db, id, caller }: Opened,
  { taken, tokens }: { taken: number; tokens: number },
): Promise<void> => {
  const { keyId, instance, metered, groupFactor } = caller;
  if (!metered) return;
  const ttlMs = holdLifetime + graceMs;
  const paid = timesFactor(taken, groupFactor);
  const full = await takeRoom(db, { id, keyId, instance, tokens, taken: paid, ttlMs });
  if (full) throw overBound(full);
};

/** The same of so much money, or of all that is left; gives how much. @throws Refusal */
const reserveUpTo = async (opened: Opened, more: number): Promise<number> => {
  try {
    await reserve(opened, { taken: more, tokens: 0 });
    return more;
  } catch (error) {
    const { taken } = await affordable(opened.db, opened.caller);
    if (!(error instanceof Refusal) || taken < 1 || taken >= more) throw error;
    await reserve(opened, { taken, tokens: 0 });
    return taken;
  }
};

/** What is stored of a call that ends and took nothing; its model only where it was answered. */
const endedOf = ({ id, caller, call }: Opened, used: Used | null) => ({
  id,
  keyId: caller.keyId,
  userId: caller.user.id,
  model: used && call.model,
  ...(used ?? nothing),
  deductPrompt: 0,
  deductCompletion: 0,
});

/** Ends a call that costs nothing: it is counted, where it was answered. */
const endFree = async (opened: Opened, used: Used | null, answer: unknown): Promise<void> => {
  const { db, caller, call, channelId } = opened;
  const { model, type } = call;
  if (used && caller.alongside) await db.transaction((tx) => caller.alongside!(tx, answer));
  if (used || caller.metered) await endCall(db, endedOf(opened, used));
  if (!used) return;
  const { promptTokens: prompt_tokens, completionTokens: completion_tokens } = used;
  const use = { type, model, prompt_tokens, completion_tokens, channelId };
  await countFreeUse(db, caller.user.id, use);
};

const recordOf = ({ call, channelId }: Opened, used: Used): SpendRecord => ({
  type: call.type,
  model: call.model,
  human: spentFor,
  prompt_tokens: used.promptTokens,
  completion_tokens: used.completionTokens,
  channelId,
});

/** Counts what a call used, and what was taken for it. */
const countUsed = (tx: Transaction, opened: Opened, used: Used, spent: number): Promise<void> => {
  const deductPrompt = Math.min(timesFactor(used.prompt, opened.caller.groupFactor), spent);
  const deductCompletion = spent - deductPrompt;
  return endCall(tx, { ...endedOf(opened, used), deductPrompt, deductCompletion });
};

/** What a call wants of its wallet: to set something aside at its begin, or to be paid at its end. */
type Wanted =
  | { opened: Opened; used: Used; hold?: never }
  | { opened: Opened; hold: NewHold; used?: never };

const paidOf = ({ opened, used }: { opened: Opened; used: Used }) => ({
  ...endedOf(opened, used),
  model: opened.call.model,
  type: opened.call.type,
  channelId: opened.channelId,
  ofPrompt: used.prompt,
  actual: used.prompt + used.completion,
});

/**
 * Calls that begin or end at once, in one line so that none is in another's way: what ends first, as
 * it gives back. Gives what was set aside or taken; null: this one is to be done by itself.
 */
const inLine = batched(async (db, wanted: readonly Wanted[]): Promise<(number | null)[]> => {
  const [pays, holds] = [
    wanted.flatMap(({ opened, used }) => (used ? [paidOf({ opened, used })] : [])),
    wanted.flatMap(({ hold }) => (hold ? [hold] : [])),
  ];
  const spent = pays.length > 0 ? await payCalls(db, pays, spentFor) : new Map<string, number>();
  const { instance } = wanted[0]!.opened.caller;
  const options = { owner: instance, waits: false };
  const held = holds.length > 0 ? await holdBalances(db, holds, options) : new Set<string>();
  return wanted.map(({ opened, hold }) => {
    if (hold) return held.has(hold.id) ? hold.amount : null;
    return spent.get(opened.id) ?? null;
  });
}, mostTogether);

/** Ends a call, paid by what was used of it; null: nothing was. Gives what was taken. */
const end = async (
  opened: Opened,
  used: Used | null,
  answer: unknown,
  alone: boolean,
): Promise<number> => {
  const { db, id, caller, call } = opened;
  if (call.amount === 0) {
    await endFree(opened, used, answer);
    return 0;
  }
  if (used && !alone && !caller.alongside && !caller.metered) {
    const spent = await inLine(db, { opened, used });
    if (spent !== null) return spent;
  }
  return committing(db, async (tx) => {
    if (!used) {
      await release(tx, id);
      return async () => {
        await endCall(tx, endedOf(opened, null));
        return 0;
      };
    }
    await caller.alongside?.(tx, answer);
    const { groupFactor, keyId, metered } = caller;
    const room = metered ? await roomOf(tx, id, keyId) : Infinity;
    const wanted = Math.min(used.prompt + used.completion, Math.floor(room / groupFactor));
    const { spent, save } = await settling(tx, id, wanted, recordOf(opened, used));
    return async () => {
      await together([save(), countUsed(tx, opened, used, spent)]);
      return spent;
    };
  });
};

/** A database that does not answer for a moment loses nobody's money. */
const surely = async (opened: Opened, used: Used | null, answer?: unknown): Promise<number> => {
  const { id, caller, log } = opened;
  for (let attempt = 1; ; attempt += 1) {
    try {
      // What failed together is tried by itself: it may have been another's fault.
      return await end(opened, used, answer, attempt > 1);
    } catch (error) {
      // Who takes down the answer in the same transaction has to know that there is none.
      if (caller.alongside && attempt >= 2) throw error;
      log.error({ err: error, call: id, attempt }, 'a call of the API could not be settled');
      if (attempt >= attempts) return 0;
      await sleep(100 * 2 ** attempt);
    }
  }
};

/**
 * Sets tokens aside for a call: of the balance, which alone pays for the API, and of what the key may
 * use. Nothing is stored of what costs nothing but a count of it.
 * @throws Refusal balance
 */
export const openCharge = async (
  deps: ChargeDeps,
  caller: ApiCaller,
  call: PaidCall,
): Promise<Charge> => {
  const { db, log } = deps;
  const id = randomUUID();
  const opened: Opened = { db, log, id, caller, call, channelId: null };
  const free = call.amount === 0;
  await reserve(opened, { taken: call.amount, tokens: call.tokens ?? 0 });
  if (!free) {
    const hold = {
      id,
      userId: caller.user.id,
      amount: call.amount,
      reference: `api:${caller.keyId}`,
    };
    // What failed together is tried by itself: it may have been another's fault.
    const together = await inLine(db, { opened, hold }).catch(() => null);
    // A membership does not pay for the API.
    const made =
      together !== null ||
      (await holdBalances(db, [hold], { owner: caller.instance, waits: true })).has(id);
    if (!made) {
      await endCall(db, endedOf(opened, null));
      throw overBalance();
    }
  }
  return {
    id,
    extend: async (more) => {
      if (free) return more;
      const given = await extendHold(db, id, await reserveUpTo(opened, more), 1);
      if (given === null) throw overBalance();
      return given;
    },
    servedBy: (channelId) => {
      opened.channelId = channelId;
    },
    settle: async (used, answer) => {
      const deducted = await surely(opened, used, answer);
      caller.used = {
        promptTokens: used.promptTokens,
        cachedTokens: used.cachedTokens ?? 0,
        completionTokens: used.completionTokens,
        reasoningTokens: used.reasoningTokens ?? 0,
        deductTokens: caller.used.deductTokens + deducted,
      };
      return deducted;
    },
    release: async (asked) => {
      if (!free || caller.metered) await surely(opened, null);
      if (!asked) return;
      const { model, type } = call;
      const { channelId } = opened;
      await noteFailedUse(db, caller.user.id, { type, model, channelId }).catch((error: unknown) =>
        log.error({ err: error, call: id }, 'a failed call of the API is not counted'),
      );
    },
  };
};
