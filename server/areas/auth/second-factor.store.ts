import { and, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { secondFactors } from './auth.tables.ts';

export const read = async (db: Executor, userId: number) => {
  const [row] = await db.select().from(secondFactors).where(eq(secondFactors.userId, userId));
  return row ?? null;
};

/** A step of time whose code is used now; false: this or a later one was used before. */
export const useStep = async (tx: Executor, userId: number, step: number): Promise<boolean> => {
  const used = await tx
    .update(secondFactors)
    .set({ lastStep: step })
    .where(and(eq(secondFactors.userId, userId), lt(secondFactors.lastStep, step)))
    .returning({ userId: secondFactors.userId });
  return used.length > 0;
};

export const useRecovery = async (tx: Executor, userId: number, hash: string): Promise<boolean> => {
  const used = await tx
    .update(secondFactors)
    .set({ recovery: sql`array_remove(${secondFactors.recovery}, ${hash})` })
    .where(
      and(
        eq(secondFactors.userId, userId),
        isNotNull(secondFactors.enabledAt),
        sql`${hash} = ANY (${secondFactors.recovery})`,
      ),
    )
    .returning({ userId: secondFactors.userId });
  return used.length > 0;
};

/**
 * Switches it on, if it is not yet, with new recovery codes. False: its secret is no more the one of
 * which a code was seen.
 */
export const giveRecovery = async (
  db: Executor,
  userId: number,
  { secret, recovery }: { secret: Buffer; recovery: string[] },
): Promise<boolean> => {
  const given = await db
    .update(secondFactors)
    .set({
      enabledAt: sql`coalesce(${secondFactors.enabledAt}, now())`,
      recovery,
    })
    .where(and(eq(secondFactors.userId, userId), eq(secondFactors.secret, secret)))
    .returning({ userId: secondFactors.userId });
  return given.length > 0;
};

/** A secret that is not confirmed yet, in place of another such; false: one was confirmed. */
export const putSecret = async (db: Executor, userId: number, secret: Buffer): Promise<boolean> => {
  const put = await db
    .insert(secondFactors)
    .values({ userId, secret })
    .onConflictDoUpdate({
      target: secondFactors.userId,
      set: { secret, lastStep: 0, recovery: [] },
      setWhere: isNull(secondFactors.enabledAt),
    })
    .returning({ userId: secondFactors.userId });
  return put.length > 0;
};

export const remove = async (tx: Executor, userId: number): Promise<void> => {
  await tx.delete(secondFactors).where(eq(secondFactors.userId, userId));
};

/** Who has it. */
export const having = async (db: Executor): Promise<Set<number>> => {
  const rows = await db
    .select({ userId: secondFactors.userId })
    .from(secondFactors)
    .where(isNotNull(secondFactors.enabledAt));
  return new Set(rows.map(({ userId }) => userId));
};
