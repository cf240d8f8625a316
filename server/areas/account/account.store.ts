import {
  and,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  notInArray,
  sql,
} from 'drizzle-orm';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import { jobs, logins, pushDevices, users, wallets } from '#server/db/schema.ts';
import { showsWhere } from '#server/db/shown.ts';
import { accountFiles, invited, invites } from './account.tables.ts';

// ---- the person ----------------------------------------------------------------------------------

export const saveName = async (db: Executor, userId: number, userName: string): Promise<void> => {
  await db.update(users).set({ userName }).where(eq(users.id, userId));
};

export const saveAvatar = async (db: Executor, userId: number, avatar: string): Promise<void> => {
  await db.update(users).set({ avatar }).where(eq(users.id, userId));
};

/** False when it was changed meanwhile. */
export const savePassword = async (
  db: Executor,
  userId: number,
  { from, to }: { from: string; to: string },
): Promise<boolean> => {
  const rows = await db
    .update(users)
    .set({ passwordHash: to })
    .where(and(eq(users.id, userId), eq(users.passwordHash, from)))
    .returning({ id: users.id });
  return rows.length > 0;
};

// ---- devices -------------------------------------------------------------------------------------

/** Logins that can still be used, the newest first; none as old as these days. */
export const loginsOf = (db: Executor, userId: number, days: number) =>
  db
    .select({
      jti: logins.jti,
      agent: logins.agent,
      createdAt: logins.createdAt,
      expiresAt: logins.expiresAt,
      fresh: logins.fresh,
    })
    .from(logins)
    .where(
      and(
        eq(logins.userId, userId),
        isNull(logins.revokedAt),
        gt(logins.expiresAt, sql`now()`),
        gt(logins.createdAt, sql`now() - make_interval(days => ${days})`),
      ),
    )
    .orderBy(desc(logins.expiresAt))
    .limit(100);

/** Ends a login of a person, or all but one; gives how many, and their pushes end with them. */
export const revokeLogins = async (
  db: Executor,
  userId: number,
  which: { only: string } | { but: string } | 'all',
): Promise<number> => {
  const chosen =
    which === 'all'
      ? undefined
      : 'only' in which
        ? eq(logins.jti, which.only)
        : ne(logins.jti, which.but);
  const rows = await db
    .update(logins)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(logins.userId, userId), isNull(logins.revokedAt), chosen))
    .returning({ jti: logins.jti });
  for (const { jti } of rows) await db.delete(pushDevices).where(eq(pushDevices.jti, jti));
  return rows.length;
};

// ---- invitations ---------------------------------------------------------------------------------

/** A network and whose it is, as digests; empty: it cannot be told. */
export interface Place {
  network: string;
  provider: string;
}

export const insertInvite = async (
  db: Executor,
  values: { code: string; userId: number; days: number } & Place,
): Promise<void> => {
  const { days, ...rest } = values;
  await db
    .insert(invites)
    .values({ ...rest, expiresAt: sql`now() + make_interval(days => ${days})` });
};

export const newestInvite = async (db: Executor, userId: number) => {
  const [row] = await db
    .select()
    .from(invites)
    .where(and(eq(invites.userId, userId), gt(invites.expiresAt, sql`now()`)))
    .orderBy(desc(invites.expiresAt))
    .limit(1);
  return row ?? null;
};

/** Whose link it is, if it can still be used by somebody who registers, and where they are. */
export const inviterOf = async (
  tx: Executor,
  code: string,
): Promise<{ userId: number; places: Place[] } | null> => {
  const [row] = await tx
    .select({
      userId: invites.userId,
      network: invites.network,
      provider: invites.provider,
      madeIn: users.madeIn,
      madeInProvider: users.madeInProvider,
    })
    .from(invites)
    .innerJoin(users, eq(users.id, invites.userId))
    .where(
      and(
        eq(invites.code, code),
        gt(invites.expiresAt, sql`now()`),
        eq(users.disabled, false),
        isNull(users.deletedAt),
      ),
    );
  if (!row) return null;
  const { userId, network, provider, madeIn, madeInProvider } = row;
  return {
    userId,
    places: [
      { network, provider },
      { network: madeIn ?? '', provider: madeInProvider },
    ],
  };
};

/** Others who come by this person's links, or from this network or provider, wait until the transaction ends. */
export const lockInviting = async (tx: Transaction, of: string): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`invite ${of}`}, 0))`);
};

/** How many who came by a person's links brought tokens in the last day. */
export const creditedLately = async (tx: Transaction, userId: number): Promise<number> => {
  const [row] = await tx
    .select({ count: sql<number>`count(*)::int` })
    .from(invited)
    .where(
      and(
        eq(invited.inviterId, userId),
        gt(invited.tokens, 0),
        gt(invited.creditedAt, sql`now() - interval '1 day'`),
      ),
    );
  return row?.count ?? 0;
};

/** How many came by anybody's links from a network, or from all of a provider, in the last day. */
export const cameFrom = (tx: Transaction, part: keyof Place, of: string): Promise<number> =>
  tx.$count(
    invited,
    and(eq(invited[part], of), gt(invited.createdAt, sql`now() - interval '1 day'`)),
  );

/** Days in China on which a person signed in or used something. */
const activeDays = sql<number>`(SELECT count(*)::int FROM (
    SELECT day FROM usage_days u WHERE u.user_id = invited.user_id
    UNION SELECT (l.created_at AT TIME ZONE 'Asia/Shanghai')::date FROM logins l
    WHERE l.user_id = invited.user_id
  ) days)`;

/**
 * Takes up to so many of those that are waited for and due to be looked at; each is looked at again
 * an hour later, unless somebody left.
 */
export const takeWaiting = async (tx: Transaction, most: number) => {
  const due = tx
    .select({ userId: invited.userId })
    .from(invited)
    .where(lt(invited.lookAt, sql`now()`))
    .orderBy(invited.lookAt)
    .limit(most)
    .for('update', { skipLocked: true });
  return tx
    .update(invited)
    .set({
      lookAt: sql`CASE WHEN EXISTS (SELECT FROM users u WHERE u.deleted_at IS NOT NULL
        AND u.id IN (invited.user_id, invited.inviter_id)) THEN NULL
        ELSE now() + interval '1 hour' END`,
    })
    .where(inArray(invited.userId, due))
    .returning({
      userId: invited.userId,
      inviterId: invited.inviterId,
      waits: sql<boolean>`${invited.lookAt} IS NOT NULL`,
      days: activeDays,
    });
};

export const creditInvited = async (
  tx: Transaction,
  userId: number,
  tokens: number,
): Promise<void> => {
  await tx
    .update(invited)
    .set({ tokens, creditedAt: sql`now()`, lookAt: null })
    .where(eq(invited.userId, userId));
};

export const insertInvited = async (
  db: Executor,
  values: typeof invited.$inferInsert,
): Promise<void> => {
  await db.insert(invited).values(values);
};

export const invitedTotals = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({
      count: sql<number>`count(*)::int`,
      tokens: sql<number>`coalesce(sum(${invited.tokens}), 0)::float8`,
      waiting: sql<number>`count(${invited.lookAt})::int`,
    })
    .from(invited)
    .where(eq(invited.inviterId, userId));
  return row ?? { count: 0, tokens: 0, waiting: 0 };
};

export const invitedPage = (
  db: Executor,
  userId: number,
  { offset, limit }: { offset: number; limit: number },
) =>
  db
    .select({
      userName: users.userName,
      tokens: invited.tokens,
      waits: sql<boolean>`${invited.lookAt} IS NOT NULL`,
      days: activeDays,
      createdAt: invited.createdAt,
    })
    .from(invited)
    .innerJoin(users, eq(users.id, invited.userId))
    .where(eq(invited.inviterId, userId))
    .orderBy(desc(invited.createdAt))
    .offset(offset)
    .limit(limit);

// ---- all that is a person's ----------------------------------------------------------------------

export const insertFile = async (
  db: Executor,
  values: { jobId: number; userId: number; key: string; size: number; days: number },
): Promise<void> => {
  const { days, ...rest } = values;
  // The newest has all that the others have.
  await db
    .update(accountFiles)
    .set({ expiresAt: sql`now()` })
    .where(eq(accountFiles.userId, values.userId));
  await db
    .insert(accountFiles)
    .values({ ...rest, expiresAt: sql`now() + make_interval(days => ${days})` });
};

/** Files that were ordered within a day. */
export const countOrdered = (db: Executor, userId: number): Promise<number> =>
  db.$count(
    jobs,
    and(
      eq(jobs.userId, userId),
      eq(jobs.kind, 'account-export'),
      gt(jobs.createdAt, sql`now() - interval '1 day'`),
    ),
  );

export const filesOf = (db: Executor, userId: number) =>
  db
    .select()
    .from(accountFiles)
    .where(and(eq(accountFiles.userId, userId), gt(accountFiles.expiresAt, sql`now()`)))
    .orderBy(desc(accountFiles.jobId));

export const findFile = async (db: Executor, userId: number, id: number) => {
  const [row] = await db
    .select()
    .from(accountFiles)
    .where(
      and(
        eq(accountFiles.jobId, id),
        eq(accountFiles.userId, userId),
        gt(accountFiles.expiresAt, sql`now()`),
      ),
    );
  return row ?? null;
};

/** Takes those away whose time is over, or all of a person; gives their keys. */
export const removeFiles = async (db: Database | Executor, userId?: number): Promise<string[]> => {
  const rows = await db
    .delete(accountFiles)
    .where(
      userId === undefined
        ? lt(accountFiles.expiresAt, sql`now()`)
        : eq(accountFiles.userId, userId),
    )
    .returning({ key: accountFiles.key });
  return rows.map(({ key }) => key);
};

/** Addresses of the images that a person uploaded or had drawn. */
export const imagesOf = async (db: Executor, userId: number): Promise<string[]> => {
  const { rows } = await db.execute<{ name: string }>(sql`
    SELECT key || CASE mime WHEN 'image/png' THEN '.png' ELSE '.jpg' END AS name
    FROM files WHERE user_id = ${userId} AND kind = 'image'
    UNION SELECT key || '.png' FROM images
    WHERE user_id = ${userId} AND key <> '' AND deleted_at IS NULL`);
  return rows.map(({ name }) => name);
};

/** All sessions in which a person has something, also with others. */
export const sessionsOf = async (db: Executor, userId: number): Promise<number[]> => {
  const { rows } = await db.execute<{ id: number }>(sql`
    SELECT id::float8 AS id FROM sessions WHERE user_id = ${userId} AND deleted_at IS NULL`);
  return rows.map(({ id }) => id);
};

/** Lets nobody in any more. False: that was done before. */
export const shutAccount = async (tx: Transaction, userId: number): Promise<boolean> => {
  const shut = await tx
    .update(users)
    .set({ disabled: true, deletedAt: sql`now()` })
    .where(and(eq(users.id, userId), isNull(users.deletedAt)))
    .returning({ id: users.id });
  if (shut.length > 0) await revokeLogins(tx, userId, 'all');
  return shut.length > 0;
};

/** Locks the row of somebody who leaves, as whatever is written for them does. False: it is done. */
export const lockLeaving = async (tx: Transaction, userId: number): Promise<boolean> => {
  const rows = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), isNotNull(users.deletedAt), isNull(users.erasedAt)))
    .for('update');
  return rows.length > 0;
};

/** Accounts that were shut a while ago and not emptied, the oldest first, but for these. */
export const leftShut = async (db: Executor, but: readonly number[]): Promise<number[]> => {
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        isNotNull(users.deletedAt),
        isNull(users.erasedAt),
        lt(users.deletedAt, sql`now() - interval '5 minutes'`),
        notInArray(users.id, [...but]),
      ),
    )
    .orderBy(users.deletedAt)
    .limit(20);
  return rows.map(({ id }) => id);
};

/** What the account says of itself. */
export const profileOf = async (db: Executor, userId: number): Promise<unknown> => {
  const [row] = await db
    .select({
      account: users.account,
      user_name: users.userName,
      email: users.email,
      avatar: users.avatar,
      vip_activated_at: users.vipActivatedAt,
      vip_expired_at: users.vipExpiredAt,
      subscribe: users.subscribe,
      setting: users.setting,
      created_at: users.createdAt,
      balance: wallets.balance,
      vip_balance: wallets.vipBalance,
    })
    .from(users)
    .leftJoin(wallets, eq(wallets.userId, users.id))
    .where(eq(users.id, userId));
  return row ?? {};
};

export const isManager = async (db: Executor, userId: number): Promise<boolean> => {
  const [row] = await db.select({ manager: users.manager }).from(users).where(eq(users.id, userId));
  return row?.manager ?? false;
};

export const shownAsAvatars = showsWhere(sql`f.kind = 'image' AND EXISTS (
  SELECT FROM users u WHERE u.avatar = f.url AND u.deleted_at IS NULL)`);
