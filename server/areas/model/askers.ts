import type { Database } from '#server/db/database.ts';
import { madeAs } from './channel-figures.store.ts';

const mostKept = 10_000;

/**
 * Who somebody is where people are counted: an account is a person, and all guests of a network are
 * one, as anybody may have as many guests as they like.
 */
export const createAskers = (db: Database) => {
  const known = new Map<number, string>();
  return async (userId: number): Promise<string> => {
    const before = known.get(userId);
    if (before !== undefined) return before;
    const row = await madeAs(db, userId);
    const person = row && !row.guest ? String(userId) : `guests ${row?.madeIn ?? ''}`;
    if (known.size >= mostKept) known.clear();
    known.set(userId, person);
    return person;
  };
};
