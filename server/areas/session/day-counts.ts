import { limits } from '#contract/limits.ts';
import { countWithin } from '#server/db/count-within.ts';
import type { Transaction } from '#server/db/database.ts';
import { waiterOf } from '#server/db/person.ts';
import { tooMany } from '#server/http/rate-limit.ts';

/** How much of something may be done in a day: by a person, by a guest, by all guests of a network. */
interface ADay {
  person: number;
  guest: number;
  guests: number;
}

/**
 * Counts what somebody does within a day, in the transaction that does it. Gives for how long more
 * there is no more of it, ms; 0: there is.
 * @param what such as `copied`
 */
export const countDay = async (
  tx: Transaction,
  userId: number,
  what: string,
  aDay: ADay,
  amount = 1,
): Promise<number> => {
  const { guest, person } = await waiterOf(tx, userId);
  // A guest whose network nobody knows is one by themselves: it is counted as both.
  const counts: [string, number][] = guest
    ? [
        [`${what} by guest ${userId}`, aDay.guest],
        [`${what} by all ${person}`, aDay.guests],
      ]
    : [[`${what} by ${person}`, aDay.person]];
  for (const [key, most] of counts) {
    const { points, left } = await countWithin(tx, key, 86_400_000, amount);
    if (points > most) return left;
  }
  return 0;
};

/** Counts a session that becomes everybody's; gives for how long more none of this person's does. */
export const countOpened = (tx: Transaction, userId: number): Promise<number> =>
  countDay(tx, userId, 'opened', limits.openedADay);

/** @throws Refusal too_many */
export const requireOpening = async (tx: Transaction, userId: number): Promise<void> => {
  const left = await countOpened(tx, userId);
  if (left > 0) throw tooMany(left, '今天公开的会话太多了，请先设为私有，明天再公开');
};
