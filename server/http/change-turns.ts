import type { Written } from '#contract/call.ts';
import { createFairQueue } from '../fair-queue.ts';
import type { Identity } from './handlers.ts';
import { askerOf } from './rate-limit.ts';

/** Of the ten connections of a process, what changes of people may hold: the others are for reading. */
const shares = {
  /** Of one account, and of the guests of one network together. */
  ofOne: 3,
  /** Of all people, within the transactions that calls are answered in, and by what writes many rows. */
  ofAll: 7,
  /** Of these, by what writes most; one of each person. */
  most: 2,
};
/** What one person, or a network's guests, may have waiting of that. */
const mostWaiting = 50;
/** For how long a change waits for its turn, ms. */
const patience = 30_000;

interface Change {
  user: Identity | null;
  ip: string;
  /** It is made within a transaction of its own. */
  held: boolean;
  writes: Written;
}

type Work<T> = () => Promise<T>;

export type ChangeTurns = ReturnType<typeof createChangeTurns>;

/**
 * Lets changes wait for each other before they take a connection to the database: those that wait for
 * a row that another has locked, or that take long, would hold all that everybody needs.
 */
export const createChangeTurns = () => {
  const own = createFairQueue(Infinity, Infinity, shares.ofOne);
  const long = createFairQueue(shares.most, mostWaiting, 1, patience);
  const all = createFairQueue(shares.ofAll, Infinity, shares.ofOne, patience);
  return <T>({ user, ip, held, writes }: Change, work: Work<T>): Promise<T> => {
    const who = askerOf(user, ip);
    const shared: Work<T> = held || writes !== 'few' ? () => all(who, work) : work;
    const queued: Work<T> = writes === 'most' ? () => long(who, shared) : shared;
    return user ? own({ person: String(user.id), guest: user.guest }, queued) : queued();
  };
};
