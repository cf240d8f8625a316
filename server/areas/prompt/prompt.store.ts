import { and, eq } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { keywordMarks } from './prompt.tables.ts';

export type MarkKind = 'top' | 'hide';

export const marksOf = (
  db: Executor,
  userId: number,
): Promise<{ keywordId: number; kind: MarkKind }[]> =>
  db
    .select({ keywordId: keywordMarks.keywordId, kind: keywordMarks.kind })
    .from(keywordMarks)
    .where(eq(keywordMarks.userId, userId))
    .orderBy(keywordMarks.createdAt);

/** Sets the mark, or takes it back where it is set; tells whether it is set now. */
export const toggleMark = async (
  db: Executor,
  userId: number,
  keywordId: number,
  kind: MarkKind,
): Promise<boolean> => {
  const set = await db
    .insert(keywordMarks)
    .values({ userId, keywordId, kind })
    .onConflictDoNothing()
    .returning({ id: keywordMarks.keywordId });
  if (set.length > 0) return true;
  await db
    .delete(keywordMarks)
    .where(
      and(
        eq(keywordMarks.userId, userId),
        eq(keywordMarks.keywordId, keywordId),
        eq(keywordMarks.kind, kind),
      ),
    );
  return false;
};
