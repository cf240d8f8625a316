import { createFairQueue } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { Listener } from './paid-speech.ts';

/** Readings and listenings that one person may ask for at once. */
const atOnce = 2;
/** Those that all guests together may have at once, each network one of them; a queue's last is never theirs. */
const guestsAtOnce = 4;

export type Turns = ReturnType<typeof createTurns>;

/** Gives everybody a turn, and nobody more than a few at once. @throws Refusal too_many_jobs */
export const createTurns = () => {
  const busy = new Map<string, number>();
  const guestLane = createFairQueue(guestsAtOnce + 1, atOnce);

  return async <T>(user: Listener, act: () => Promise<T>): Promise<T> => {
    const { person } = user;
    const running = busy.get(person) ?? 0;
    if (running >= atOnce) throw new Refusal('too_many_jobs', '上一段还没有完成，请稍候');
    busy.set(person, running + 1);
    try {
      return await (user.guest ? guestLane(user, act) : act());
    } finally {
      const left = (busy.get(person) ?? 1) - 1;
      if (left === 0) busy.delete(person);
      else busy.set(person, left);
    }
  };
};
