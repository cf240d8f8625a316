import type { Executor } from '#server/db/database.ts';
import { windowOf } from '#server/paging.ts';
import { countLines, linesOf } from './ledger.store.ts';

/** The lines of a person's account, newest first. */
export const ledgerPage = async (db: Executor, userId: number, page: number, size: number) => ({
  list: await linesOf(db, userId, windowOf(page, size)),
  total: await countLines(db, userId),
});
