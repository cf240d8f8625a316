import type { Database } from '#server/db/database.ts';
import { givingWay } from '#server/db/giving-way.ts';
import { allIdsOf, deleteAllOf } from '../session/session.service.ts';
import { emptyMessages, indexedLast } from './leave-chat.store.ts';

/** Messages and sessions that are emptied in one transaction. */
const most = { messages: 10_000, sessions: 1000 };

/**
 * Empties the sessions of a person who left, a part after the other: there may be more than one
 * transaction can hold. What was emptied stays so, whenever it is gone on with. False: some are left.
 */
export const emptySessions = async (
  db: Database,
  userId: number,
  until: number,
): Promise<boolean> => {
  for (let after = 0, count = 1; ;) {
    const ids = await allIdsOf(db, userId, after, count);
    const last = ids.at(-1);
    if (last === undefined) return true;
    if (Date.now() > until) return false;
    const done = await givingWay(db, async (tx) => {
      await indexedLast(tx);
      const all = (await emptyMessages(tx, ids, most.messages)) < most.messages;
      if (all) await deleteAllOf(tx, userId, ids);
      return all;
    });
    if (done) after = last;
    count = done ? Math.min(count * 2, most.sessions) : 1;
  }
};
