import { eq, sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import { instances } from './schema.ts';

/** How a process does, for the other ones to see. */
export const reportInstance = async (
  db: Database,
  id: number,
  seen: Partial<typeof instances.$inferInsert>,
): Promise<void> => {
  await db
    .update(instances)
    .set({ ...seen, seenAt: sql`now()` })
    .where(eq(instances.id, id));
};
