import { and, eq, gt, lt, sql } from 'drizzle-orm';
import { type ContactKind, type SignInSettings, usualSignIn } from '#contract/sign-in.ts';
import type { Executor } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import { type CodePurpose, contactCodes, contacts, signInSettings } from './contact.tables.ts';

export interface KeptSettings extends SignInSettings {
  smtpPassword: Buffer | null;
  smsSecret: Buffer | null;
}

export const readSettings = async (db: Executor): Promise<KeptSettings> => {
  const [row] = await db.select().from(signInSettings);
  return {
    ...usualSignIn,
    ...row?.settings,
    smtpPassword: row?.smtpPassword ?? null,
    smsSecret: row?.smsSecret ?? null,
  };
};

/** Changes some of them; a secret that is left out stays. */
export const writeSettings = async (
  db: Executor,
  change: Partial<SignInSettings>,
  secrets: { smtpPassword?: Buffer; smsSecret?: Buffer },
): Promise<void> => {
  await db.update(signInSettings).set({
    settings: sql`${signInSettings.settings} || ${JSON.stringify(change)}::jsonb`,
    ...secrets,
  });
};

/** Whose it is, unless the account is shut. */
export const ownerOf = async (
  db: Executor,
  kind: ContactKind,
  value: string,
): Promise<{ userId: number; account: string; disabled: boolean } | null> => {
  const [row] = await db
    .select({ userId: contacts.userId, account: users.account, disabled: users.disabled })
    .from(contacts)
    .innerJoin(users, eq(users.id, contacts.userId))
    .where(and(eq(contacts.kind, kind), eq(contacts.value, value)));
  return row ? { ...row, account: row.account ?? '' } : null;
};

export const contactsOf = (db: Executor, userId: number) =>
  db.select().from(contacts).where(eq(contacts.userId, userId)).orderBy(contacts.kind);

export const contactOf = async (
  db: Executor,
  userId: number,
  kind: ContactKind,
): Promise<string | null> =>
  (await contactsOf(db, userId)).find((row) => row.kind === kind)?.value ?? null;

/** False: it is another person's. */
export const putContact = async (
  tx: Executor,
  userId: number,
  kind: ContactKind,
  value: string,
): Promise<boolean> => {
  await tx.delete(contacts).where(and(eq(contacts.userId, userId), eq(contacts.kind, kind)));
  const rows = await tx
    .insert(contacts)
    .values({ userId, kind, value })
    .onConflictDoNothing()
    .returning({ userId: contacts.userId });
  return rows.length > 0;
};

export const removeContact = async (
  tx: Executor,
  userId: number,
  kind: ContactKind,
): Promise<boolean> => {
  const rows = await tx
    .delete(contacts)
    .where(and(eq(contacts.userId, userId), eq(contacts.kind, kind)))
    .returning({ userId: contacts.userId });
  return rows.length > 0;
};

/** The address that the account shows of itself follows the one that was proved. */
export const showMail = async (tx: Executor, userId: number, email: string): Promise<void> => {
  await tx.update(users).set({ email }).where(eq(users.id, userId));
};

export const insertCode = async (
  db: Executor,
  values: Omit<typeof contactCodes.$inferInsert, 'expiresAt'> & { minutes: number },
): Promise<void> => {
  const { minutes, ...rest } = values;
  await db
    .insert(contactCodes)
    .values({ ...rest, expiresAt: sql`now() + make_interval(mins => ${minutes})` });
};

/** Counts a try at a code, of which it has so many; null: it has none left, or is none. */
export const tryCode = async (
  db: Executor,
  {
    id,
    purpose,
    targetHash,
    most,
  }: {
    id: string;
    purpose: CodePurpose;
    targetHash: Buffer;
    most: number;
  },
): Promise<{ userId: number | null; codeHash: Buffer } | null> => {
  const [row] = await db
    .update(contactCodes)
    .set({ tries: sql`${contactCodes.tries} + 1` })
    .where(
      and(
        eq(contactCodes.id, id),
        eq(contactCodes.purpose, purpose),
        eq(contactCodes.targetHash, targetHash),
        lt(contactCodes.tries, most),
        gt(contactCodes.expiresAt, sql`now()`),
      ),
    )
    .returning({ userId: contactCodes.userId, codeHash: contactCodes.codeHash });
  return row ?? null;
};

/** Uses a code up; false: another request did. */
export const useCode = async (db: Executor, id: string): Promise<boolean> => {
  const rows = await db
    .delete(contactCodes)
    .where(eq(contactCodes.id, id))
    .returning({ id: contactCodes.id });
  return rows.length > 0;
};

/** Codes that stand for somebody are worth nothing any more. */
export const dropCodesOf = async (db: Executor, userId: number): Promise<void> => {
  await db.delete(contactCodes).where(eq(contactCodes.userId, userId));
};

export const removeExpiredCodes = async (db: Executor): Promise<void> => {
  await db.delete(contactCodes).where(lt(contactCodes.expiresAt, sql`now()`));
};
