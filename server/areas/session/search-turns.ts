import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { wordsOf } from './search.service.ts';

/**
 * Searches that read texts at once, each with a connection to the database, of one person one; what
 * they may have waiting, and for how long anything waits, ms.
 */
const turns = createFairQueue(3, 12, 1, 15_000);

/** Waits for a turn where something is searched for. @throws Refusal too_many */
export const inSearchTurn = <T>(
  query: string | undefined,
  who: Waiter,
  work: () => Promise<T>,
): Promise<T> => (wordsOf(query ?? '').length === 0 ? work() : turns(who, work));
