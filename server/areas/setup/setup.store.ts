import { and, asc, eq, isNull, ne, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { channels, logins, modelChannels, users } from '#server/db/schema.ts';
import { setup } from './setup.tables.ts';

export type SetupRow = typeof setup.$inferSelect;

export const readSetup = async (db: Executor): Promise<SetupRow> => {
  const [row] = await db.select().from(setup);
  if (!row) throw new Error('the row of the setup is missing');
  return row;
};

export const writeSetup = async (
  db: Executor,
  change: Partial<typeof setup.$inferInsert>,
): Promise<SetupRow> => {
  const [row] = await db.update(setup).set(change).returning();
  if (!row) throw new Error('the row of the setup is missing');
  return row;
};

/** The first owner, and whether they ever signed in; null: there is none. */
export const firstOwner = async (db: Executor) => {
  const [row] = await db
    .select({
      id: users.id,
      account: users.account,
      passwordHash: users.passwordHash,
      signedIn: sql<boolean>`EXISTS (SELECT FROM ${logins} WHERE ${logins.userId} = ${users.id})`,
    })
    .from(users)
    .where(eq(users.owner, true))
    .orderBy(asc(users.id))
    .limit(1);
  return row ?? null;
};

/** Whether somebody's password is this one still. */
export const hasPassword = async (db: Executor, userId: number, hash: string): Promise<boolean> => {
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), eq(users.passwordHash, hash)));
  return rows.length > 0;
};

/** False where the password is another one by now. Their other logins end with it. */
export const changePassword = async (
  db: Executor,
  who: { id: number; jti: string },
  { from, to }: { from: string; to: string },
): Promise<boolean> => {
  const rows = await db
    .update(users)
    .set({ passwordHash: to })
    .where(and(eq(users.id, who.id), eq(users.passwordHash, from)))
    .returning({ id: users.id });
  if (rows.length === 0) return false;
  await db
    .update(logins)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(logins.userId, who.id), ne(logins.jti, who.jti), isNull(logins.revokedAt)));
  return true;
};

/** Uses the code of the link up; false: it is not the one, was used, or is over. */
export const useEntry = async (db: Executor, hash: string): Promise<boolean> => {
  const rows = await db
    .update(setup)
    .set({ entryHash: null })
    .where(and(eq(setup.entryHash, hash), sql`${setup.entryUntil} > now()`))
    .returning({ single: setup.single });
  return rows.length > 0;
};

/** What answers beside what is built in, by name. */
export const answering = async (db: Executor) =>
  db
    .selectDistinct({ label: channels.label })
    .from(channels)
    .innerJoin(modelChannels, eq(modelChannels.channelId, channels.id))
    .where(and(ne(channels.source, 'built-in'), eq(channels.enabled, true)))
    .orderBy(asc(channels.label));
