import { desc, eq } from 'drizzle-orm';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Executor } from '#server/db/database.ts';
import { ledger } from '#server/db/schema.ts';

/** The lines of a person's account, newest first. */
export const ledgerPage = async (db: Executor, userId: number, page: number, size: number) => {
  const list = await db
    .select()
    .from(ledger)
    .where(eq(ledger.userId, userId))
    .orderBy(desc(ledger.id))
    .offset((page - 1) * size)
    .limit(size);
  return { list, total: await countUpTo(db, ledger, eq(ledger.userId, userId)) };
};
