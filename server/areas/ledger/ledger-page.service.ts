import type { Executor } from '#server/db/database.ts';
import { windowOf } from '#server/paging.ts';
import { requireSortable, type Sorting } from '#server/sorting.ts';
import { countLines, linesOf } from './ledger.store.ts';

/**
 * The lines of a person's account, the newest first where no other order is asked for.
 * @throws Refusal bad_input
 */
export const ledgerPage = async (
  db: Executor,
  { userId, page, ...sorting }: { userId: number; page: number } & Sorting<'adminUserLedger'>,
  size: number,
) => {
  const total = await countLines(db, userId);
  requireSortable('adminUserLedger', sorting, total);
  return { list: await linesOf(db, userId, windowOf(page, size), sorting), total };
};
