import type { Executor } from '#server/db/database.ts';
import { countLines, linesOf } from './ledger.store.ts';

/** The lines of a person's account, newest first. */
export const ledgerPage = async (db: Executor, userId: number, page: number, size: number) => ({
  list: await linesOf(db, userId, { offset: (page - 1) * size, limit: size }),
  total: await countLines(db, userId),
});
