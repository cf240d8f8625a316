import type { Waiter } from '#server/fair-queue.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';

/** Whether a service of vectors or one that ranks may be asked now, which the house pays for. */
export type MayAsk = () => Promise<boolean>;

/**
 * So often in a day a service is asked at the house's cost: for a person, and for all guests and
 * visitors of a network. Where a model is asked that is paid for it is more, and no end is open:
 * passages are looked for before anything is held.
 */
const aDay = { person: 2_000, network: 200, payer: 20_000 };

export type MayAskFor = (who: Waiter, paid?: boolean) => MayAsk;

/** The one bound of all that ask knowledge bases; beyond it words alone find much, too. */
export const createMayAsk = (): MayAskFor => {
  const limits = {
    person: createKeyLimit(aDay.person, 86_400, 'questions tried'),
    network: createKeyLimit(aDay.network, 86_400, 'questions tried by a network'),
    payer: createKeyLimit(aDay.payer, 86_400, 'questions paid for'),
  };
  return ({ person, guest }, paid = false) => {
    const limit = limits[guest ? 'network' : paid ? 'payer' : 'person'];
    return () =>
      limit(person).then(
        () => true,
        () => false,
      );
  };
};
