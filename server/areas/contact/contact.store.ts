import { and, desc, eq, gt, lt, sql } from 'drizzle-orm';
import { type ContactKind, type SignInSettings, usualSignIn } from '#contract/sign-in.ts';
import type { Database, Executor } from '#server/db/database.ts';
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

/**
 * Keeps a code that is about to be sent. Where one is on its way already, for less than a minute, it
 * stands for that one instead, with tries of its own; gives whether it is a new one.
 */
export const keepCode = (
  db: Database,
  code: Pick<typeof contactCodes.$inferSelect, 'id' | 'purpose' | 'targetHash' | 'codeHash'> & {
    /** Null: nobody has that address, and nothing is sent. */
    userId: number | null;
    minutes: number;
  },
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const { minutes, ...values } = code;
    const { purpose, userId, targetHash } = values;
    // Of two at once the second one sees the first.
    const key = `code ${targetHash.toString('base64')}`;
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))`);
    const [sent] = await tx
      .select()
      .from(contactCodes)
      .where(
        and(
          eq(contactCodes.userId, userId ?? 0),
          eq(contactCodes.purpose, purpose),
          eq(contactCodes.targetHash, targetHash),
          gt(contactCodes.sentAt, sql`now() - interval '1 minute'`),
        ),
      )
      .orderBy(desc(contactCodes.sentAt))
      .limit(1);
    await tx.insert(contactCodes).values(
      sent
        ? {
            ...values,
            codeHash: sent.codeHash,
            sameAs: sent.sameAs ?? sent.id,
            sentAt: sent.sentAt,
            expiresAt: sent.expiresAt,
          }
        : {
            ...values,
            ...(userId !== null && { sentAt: sql`now()` }),
            expiresAt: sql`now() + make_interval(mins => ${minutes})`,
          },
    );
    return !sent;
  });

/** All that stand for the same code as this one. */
const sameCode = (id: string) => sql`${contactCodes.userId} IS NOT DISTINCT FROM
    (SELECT c.user_id FROM contact_codes c WHERE c.id = ${id})
  AND coalesce(${contactCodes.sameAs}, ${contactCodes.id}) =
    (SELECT coalesce(c.same_as, c.id) FROM contact_codes c WHERE c.id = ${id})`;

/** It could not be sent: whoever asks for the next one gets one. */
export const noteNotSent = async (db: Executor, id: string): Promise<void> => {
  await db.update(contactCodes).set({ sentAt: null }).where(sameCode(id));
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
): Promise<{ userId: number | null; codeHash: Buffer; sameAs: string | null } | null> => {
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
    .returning({
      userId: contactCodes.userId,
      codeHash: contactCodes.codeHash,
      sameAs: contactCodes.sameAs,
    });
  return row ?? null;
};

/** Uses a code up; false: another request did. */
export const useCode = async (db: Executor, id: string): Promise<boolean> => {
  const rows = await db.delete(contactCodes).where(sameCode(id)).returning({ id: contactCodes.id });
  return rows.some((row) => row.id === id);
};

/** Codes that stand for somebody are worth nothing any more. */
export const dropCodesOf = async (db: Executor, userId: number): Promise<void> => {
  await db.delete(contactCodes).where(eq(contactCodes.userId, userId));
};

export const removeExpiredCodes = async (db: Executor): Promise<void> => {
  await db.delete(contactCodes).where(lt(contactCodes.expiresAt, sql`now()`));
};
