import type { FastifyBaseLogger } from 'fastify';
import { dearest, deduction, isFree } from '#contract/price.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Database } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { ApiCaller } from '#server/http/open-handlers.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { holdLifetime } from '../ledger/ledger.service.ts';
import { affordable, type Charge, openCharge } from './charge.ts';
import type { Asked } from './chat-request.ts';

/** Tokens of an answer that are set aside at first, and for how many more each time: as much again as came. */
export const ahead = { first: 512, more: 2048 };
/** How long an answer may take, ms: what is set aside for it is given back soon after. */
export const longestAnswer = holdLifetime - 60_000;
/** An answer for which fewer tokens can be set aside is not begun. */
export const leastAnswer = 16;

/** What a service may count of a prompt that is guessed to have so many tokens. */
const askedAtMost = (rough: number): number => Math.ceil(rough * 1.25) + 16;

/**
 * Sets aside what an answer may cost, or as much of it as can be paid for; gives what was, and how
 * long the answer may be then. An answer that is paid in parts is no longer than can be paid for,
 * either: what is thought unseen is known at its end alone. @throws Refusal balance
 */
export const setAside = async (
  deps: { db: Database; log: Pick<FastifyBaseLogger, 'error'> },
  caller: ApiCaller,
  model: ResolvedModel,
  wish: Pick<Asked, 'rough' | 'counted'> & {
    most: number;
    budget: number;
    n: number;
    inParts: boolean;
  },
): Promise<{ charge: Charge; held: number; most: number }> => {
  const { most, budget, n } = wish;
  let { rough } = wish;
  const bounded = caller.countedBound;
  // A bound of tokens holds to the token: all that may come is set aside before.
  const inParts = wish.inParts && !bounded;
  const asked = bounded ? askedAtMost(rough) : 0;
  const open = (amount: number, answer: number) =>
    openCharge(deps, caller, {
      model: model.name,
      type: sessionTypes.chat,
      amount,
      tokens: bounded ? asked + answer * n : 0,
    });
  if (isFree(model) && !bounded) return { charge: await open(0, 0), held: 0, most };
  const cost = (answer: number) => deduction(dearest(model), rough, answer);
  const factor = Math.max(model.factor * (inParts ? 1 : n), 1e-9);
  const fitting = async (): Promise<number> => {
    const left = await affordable(deps.db, caller);
    const thinking = budget > 0 && !inParts ? 2 : 1;
    const paid = () => (isFree(model) ? Infinity : (left.taken - cost(0)) / factor / thinking);
    // A guess that is too high by a third would take more than it leaves.
    if (paid() < Math.min(most, rough)) rough = Math.min(rough, await wish.counted(model.name));
    return Math.floor(Math.min(paid(), (left.tokens - asked) / n / thinking));
  };
  const wanted = inParts ? Math.min(ahead.first, most) : (most + budget) * n;
  try {
    const held = cost(wanted);
    const bound = inParts ? Math.max(wanted, await fitting()) : most;
    return { charge: await open(held, most + budget), held, most: Math.min(most, bound) };
  } catch (error) {
    if (!(error instanceof Refusal && error.codeName === 'balance')) throw error;
    // As much of an answer as can be paid for, but no stump.
    const fits = await fitting();
    if (fits < (inParts ? leastAnswer : Math.min(most, 256))) throw error;
    const shorter = Math.min(most, fits);
    const thought = Math.min(budget, shorter);
    const held = cost(inParts ? Math.min(wanted, fits) : (shorter + thought) * n);
    return { charge: await open(held, shorter + thought), held, most: shorter };
  }
};
