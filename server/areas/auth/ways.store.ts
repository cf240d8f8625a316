import { and, desc, eq, gt, isNull, lt, sql } from 'drizzle-orm';
import { limits } from '#contract/limits.ts';
import type { ContactKind } from '#contract/sign-in.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { logins, pushDevices, users } from '#server/db/schema.ts';
import { contacts } from '../contact/contact.tables.ts';
import {
  accountEvents,
  identities,
  passkeyQuestions,
  passkeys,
  providerFlows,
  providers,
} from './ways.tables.ts';

// ---- what happened --------------------------------------------------------------------------------

export const insertEvent = async (
  db: Executor,
  values: { userId: number; kind: string; way?: string; agent?: string },
): Promise<void> => {
  await db.insert(accountEvents).values(values);
};

export const eventsOf = (db: Executor, userId: number, most: number) =>
  db
    .select()
    .from(accountEvents)
    .where(eq(accountEvents.userId, userId))
    .orderBy(desc(accountEvents.id))
    .limit(most);

/** Kept for six months, as long as records of sign-ins have to be. */
export const removeOldEvents = async (db: Executor): Promise<void> => {
  await db
    .delete(accountEvents)
    .where(lt(accountEvents.createdAt, sql`now() - interval '6 months'`));
};

// ---- the person -----------------------------------------------------------------------------------

/** A person's row, locked: two who each take one of the last two ways away wait for each other. */
export const lockPerson = async (tx: Executor, userId: number) => {
  const [row] = await tx
    .select({
      account: users.account,
      passwordHash: users.passwordHash,
      disabled: users.disabled,
    })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update');
  return row ?? null;
};

/** Who it is that comes in. */
export const personOf = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({ userId: users.id, account: users.account, disabled: users.disabled })
    .from(users)
    .where(eq(users.id, userId));
  return row ?? null;
};

/** How a person can sign in besides the password. */
export const countWays = async (db: Executor, userId: number) => {
  const [linked, keys, bound] = [
    await db
      .select({ id: identities.id })
      .from(identities)
      .innerJoin(providers, eq(providers.id, identities.providerId))
      .where(and(eq(identities.userId, userId), eq(providers.enabled, true))),
    await db.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.userId, userId)),
    await db.select({ kind: contacts.kind }).from(contacts).where(eq(contacts.userId, userId)),
  ];
  return {
    identities: linked.map(({ id }) => id),
    passkeys: keys.map(({ id }) => id),
    contacts: bound.map(({ kind }) => kind),
  };
};

export const setPassword = async (
  tx: Executor,
  userId: number,
  passwordHash: string,
): Promise<void> => {
  await tx.update(users).set({ passwordHash }).where(eq(users.id, userId));
};

/** Ends all logins of a person, and their pushes; gives how many ran. */
export const endLogins = async (tx: Executor, userId: number): Promise<number> => {
  const rows = await tx
    .update(logins)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(logins.userId, userId), isNull(logins.revokedAt)))
    .returning({ jti: logins.jti });
  for (const { jti } of rows) await tx.delete(pushDevices).where(eq(pushDevices.jti, jti));
  return rows.length;
};

// ---- providers ------------------------------------------------------------------------------------

export type ProviderRow = typeof providers.$inferSelect;

export const listProviders = (db: Executor) => db.select().from(providers).orderBy(providers.id);

export const findProvider = async (db: Executor, id: number): Promise<ProviderRow | null> =>
  (await db.select().from(providers).where(eq(providers.id, id)))[0] ?? null;

export const peopleOfProviders = async (db: Executor): Promise<Map<number, number>> =>
  new Map(
    (
      await db
        .select({ id: identities.providerId, count: sql<number>`count(*)::int` })
        .from(identities)
        .groupBy(identities.providerId)
    ).map(({ id, count }) => [id, count]),
  );

/** Gives its number. */
export const putProvider = async (
  db: Executor,
  id: number | undefined,
  values: Omit<typeof providers.$inferInsert, 'id'>,
): Promise<number> => {
  const [row] =
    id === undefined
      ? await db.insert(providers).values(values).returning({ id: providers.id })
      : await db
          .update(providers)
          .set(values)
          .where(eq(providers.id, id))
          .returning({ id: providers.id });
  if (!row) throw new Error('the provider was not stored');
  return row.id;
};

/** People who have no other way in than this provider. */
export const dependOn = async (db: Executor, id: number): Promise<number> => {
  const { rows } = await db.execute<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM identities i JOIN users u ON u.id = i.user_id
    WHERE i.provider_id = ${id} AND u.password_hash IS NULL AND u.deleted_at IS NULL
      AND NOT EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id)
      AND NOT EXISTS (SELECT FROM contacts c WHERE c.user_id = u.id)
      AND NOT EXISTS (SELECT FROM identities o WHERE o.user_id = u.id AND o.provider_id <> ${id})`);
  return rows[0]?.count ?? 0;
};

export const removeProvider = async (tx: Executor, id: number): Promise<boolean> => {
  await tx.delete(identities).where(eq(identities.providerId, id));
  const rows = await tx
    .delete(providers)
    .where(eq(providers.id, id))
    .returning({ id: providers.id });
  return rows.length > 0;
};

// ---- ways there and back --------------------------------------------------------------------------

export const insertFlow = async (
  db: Executor,
  values: Omit<typeof providerFlows.$inferInsert, 'expiresAt'>,
): Promise<void> => {
  await db
    .insert(providerFlows)
    .values({ ...values, expiresAt: sql`now() + interval '10 minutes'` });
};

type FlowRow = typeof providerFlows.$inferSelect;

/** The flow of a state that this very browser began, with this provider. */
const ofBrowser = (given: Pick<FlowRow, 'stateHash' | 'secretHash' | 'providerId'>) =>
  and(
    eq(providerFlows.stateHash, given.stateHash),
    eq(providerFlows.secretHash, given.secretHash),
    eq(providerFlows.providerId, given.providerId),
    gt(providerFlows.expiresAt, sql`now()`),
  );

/** Takes a flow that is away: what it brings back is looked at once, whatever comes of it. */
export const takeFlow = async (
  db: Executor,
  given: Pick<FlowRow, 'stateHash' | 'secretHash' | 'providerId'>,
): Promise<FlowRow | null> => {
  const [row] = await db
    .delete(providerFlows)
    .where(and(ofBrowser(given), eq(providerFlows.stage, 'away')))
    .returning();
  return row ?? null;
};

/** One that is back and waits for a second factor. */
export const waitingFlow = async (
  db: Executor,
  given: Pick<FlowRow, 'stateHash' | 'secretHash' | 'providerId'>,
): Promise<FlowRow | null> => {
  const [row] = await db
    .select()
    .from(providerFlows)
    .where(and(ofBrowser(given), eq(providerFlows.stage, 'back')));
  return row ?? null;
};

export const dropFlow = async (db: Executor, stateHash: Buffer): Promise<boolean> => {
  const rows = await db
    .delete(providerFlows)
    .where(eq(providerFlows.stateHash, stateHash))
    .returning({ stateHash: providerFlows.stateHash });
  return rows.length > 0;
};

type Outside = Pick<typeof identities.$inferSelect, 'providerId' | 'issuer' | 'subject'>;

const isOutside = (of: Outside) =>
  and(
    eq(identities.providerId, of.providerId),
    eq(identities.issuer, of.issuer),
    eq(identities.subject, of.subject),
  );

/**
 * Puts a flow back whose person is known: a second factor may still be asked for. False: the account
 * elsewhere is theirs no more, and what took it away did not find the flow.
 */
export const keepBack = (
  db: Executor,
  flow: FlowRow & { userId: number },
  of: Outside,
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const linked = await tx
      .select({ id: identities.id })
      .from(identities)
      .where(and(isOutside(of), eq(identities.userId, flow.userId)))
      .for('key share');
    if (linked.length > 0) await tx.insert(providerFlows).values({ ...flow, stage: 'back' });
    return linked.length > 0;
  });

export const identityOf = async (db: Executor, of: Outside) => {
  const [row] = await db
    .select({ userId: identities.userId, account: users.account, disabled: users.disabled })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    .where(isOutside(of));
  return row ?? null;
};

/** False: it is somebody's already, or this person has another one there. */
export const insertIdentity = async (
  db: Executor,
  values: typeof identities.$inferInsert,
): Promise<boolean> => {
  const rows = await db
    .insert(identities)
    .values(values)
    .onConflictDoNothing()
    .returning({ id: identities.id });
  return rows.length > 0;
};

export const identitiesOf = (db: Executor, userId: number) =>
  db
    .select({
      id: identities.id,
      providerId: identities.providerId,
      name: providers.name,
      label: identities.label,
      createdAt: identities.createdAt,
    })
    .from(identities)
    .innerJoin(providers, eq(providers.id, identities.providerId))
    .where(eq(identities.userId, userId))
    .orderBy(identities.id);

/** Nobody who came by an account elsewhere is on the way in any more. */
const dropFlowsOf = async (tx: Executor, userId: number): Promise<void> => {
  await tx.delete(providerFlows).where(eq(providerFlows.userId, userId));
};

export const removeIdentity = async (
  tx: Executor,
  userId: number,
  id: number,
): Promise<boolean> => {
  const rows = await tx
    .delete(identities)
    .where(and(eq(identities.id, id), eq(identities.userId, userId)))
    .returning({ id: identities.id });
  await dropFlowsOf(tx, userId);
  return rows.length > 0;
};

/**
 * Takes away the addresses and identities of the last days that were bound later than the address of
 * one kind; nobody who came by one of them is on the way in any more.
 */
export const takeLatelyBound = async (tx: Executor, userId: number, but: ContactKind | null) => {
  const since = sql`greatest(now() - make_interval(days => ${limits.latelyBoundDays}),
    (SELECT created_at FROM contacts WHERE user_id = ${userId} AND kind = ${but}))`;
  const { rows: linked } = await tx.execute<{ name: string; label: string }>(sql`
    DELETE FROM identities i USING sign_in_providers p
    WHERE i.user_id = ${userId} AND p.id = i.provider_id AND i.created_at > ${since}
    RETURNING p.name, i.label`);
  const { rows: bound } = await tx.execute<{ kind: ContactKind; value: string }>(sql`
    DELETE FROM contacts WHERE user_id = ${userId} AND kind IS DISTINCT FROM ${but}
      AND created_at > ${since}
    RETURNING kind, value`);
  await dropFlowsOf(tx, userId);
  return { identities: linked, contacts: bound };
};

// ---- passkeys -------------------------------------------------------------------------------------

export const insertQuestion = async (
  db: Executor,
  values: Omit<typeof passkeyQuestions.$inferInsert, 'expiresAt'>,
): Promise<void> => {
  await db
    .insert(passkeyQuestions)
    .values({ ...values, expiresAt: sql`now() + interval '5 minutes'` });
};

/** Uses a question up. */
export const takeQuestion = async (
  db: Executor,
  id: string,
  userId: number | null,
): Promise<string | null> => {
  const [row] = await db
    .delete(passkeyQuestions)
    .where(
      and(
        eq(passkeyQuestions.id, id),
        userId === null ? isNull(passkeyQuestions.userId) : eq(passkeyQuestions.userId, userId),
        gt(passkeyQuestions.expiresAt, sql`now()`),
      ),
    )
    .returning({ challenge: passkeyQuestions.challenge });
  return row?.challenge ?? null;
};

export const passkeysOf = (db: Executor, userId: number) =>
  db.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(passkeys.id);

export const findPasskey = async (db: Executor, credentialId: string) => {
  const [row] = await db
    .select({ key: passkeys, account: users.account, disabled: users.disabled })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, credentialId));
  return row ?? null;
};

export const insertPasskey = async (
  db: Executor,
  values: typeof passkeys.$inferInsert,
): Promise<boolean> => {
  const rows = await db
    .insert(passkeys)
    .values(values)
    .onConflictDoNothing()
    .returning({ id: passkeys.id });
  return rows.length > 0;
};

/** False: another answer of the same device was counted meanwhile, as of one that was copied. */
export const notePasskeyUse = async (
  db: Executor,
  id: number,
  counter: { from: number; to: number },
): Promise<boolean> => {
  const rows = await db
    .update(passkeys)
    .set({ counter: counter.to, usedAt: sql`now()` })
    .where(and(eq(passkeys.id, id), eq(passkeys.counter, counter.from)))
    .returning({ id: passkeys.id });
  return rows.length > 0;
};

export const renamePasskey = async (
  db: Executor,
  userId: number,
  id: number,
  name: string,
): Promise<boolean> => {
  const rows = await db
    .update(passkeys)
    .set({ name })
    .where(and(eq(passkeys.id, id), eq(passkeys.userId, userId)))
    .returning({ id: passkeys.id });
  return rows.length > 0;
};

export const removePasskey = async (tx: Executor, userId: number, id: number): Promise<boolean> => {
  const rows = await tx
    .delete(passkeys)
    .where(and(eq(passkeys.id, id), eq(passkeys.userId, userId)))
    .returning({ id: passkeys.id });
  return rows.length > 0;
};

/** What a person was asked for new passkeys can be answered no more. */
export const dropQuestionsOf = async (tx: Executor, userId: number): Promise<void> => {
  await tx.delete(passkeyQuestions).where(eq(passkeyQuestions.userId, userId));
};

/** Whoever takes an account back must not leave a way in to whoever had it; gives how many there were. */
export const dropPasskeysOf = async (tx: Executor, userId: number): Promise<number> => {
  await dropQuestionsOf(tx, userId);
  const rows = await tx
    .delete(passkeys)
    .where(eq(passkeys.userId, userId))
    .returning({ id: passkeys.id });
  return rows.length;
};

export const removeExpiredWays = async (db: Executor): Promise<void> => {
  await db.delete(providerFlows).where(lt(providerFlows.expiresAt, sql`now()`));
  await db.delete(passkeyQuestions).where(lt(passkeyQuestions.expiresAt, sql`now()`));
};
