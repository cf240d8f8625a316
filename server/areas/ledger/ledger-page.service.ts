import { desc, eq, sql } from 'drizzle-orm';
import type { Executor } from '../../db/database.ts';
import { ledger } from '../../db/schema.ts';

/** The lines of a person's account, newest first. */
export const ledgerPage = async (db: Executor, userId: number, page: number, size: number) => {
  const list = await db
    .select()
    .from(ledger)
    .where(eq(ledger.userId, userId))
    .orderBy(desc(ledger.id))
    .offset((page - 1) * size)
    .limit(size);
  const [counted] = await db
    .select({ total: sql<number>`count(*)::int` })
    .from(ledger)
    .where(eq(ledger.userId, userId));
  return { list, total: counted?.total ?? 0 };
};
