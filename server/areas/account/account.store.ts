import { and, desc, eq, gt, isNull, lt, ne, sql } from 'drizzle-orm';
import type { Database, Executor, Transaction } from '../../db/database.ts';
import { logins, pushDevices, users, wallets } from '../../db/schema.ts';
import { showsWhere } from '../file/shown.ts';
import { accountFiles, invited, invites } from './account.tables.ts';

// ---- the person ----------------------------------------------------------------------------------

export const saveName = async (db: Executor, userId: number, userName: string): Promise<void> => {
  await db.update(users).set({ userName }).where(eq(users.id, userId));
};

export const saveAvatar = async (db: Executor, userId: number, avatar: string): Promise<void> => {
  await db.update(users).set({ avatar }).where(eq(users.id, userId));
};

export const passwordOf = async (db: Executor, userId: number): Promise<string | null> => {
  const [row] = await db
    .select({ hash: users.passwordHash })
    .from(users)
    .where(eq(users.id, userId));
  return row?.hash ?? null;
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

/** Logins that can still be used, the newest first. */
export const loginsOf = (db: Executor, userId: number) =>
  db
    .select({
      jti: logins.jti,
      agent: logins.agent,
      createdAt: logins.createdAt,
      expiresAt: logins.expiresAt,
    })
    .from(logins)
    .where(
      and(eq(logins.userId, userId), isNull(logins.revokedAt), gt(logins.expiresAt, sql`now()`)),
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

export const insertInvite = async (
  db: Executor,
  values: { code: string; userId: number; days: number },
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

/** Whose link it is, if it can still be used by somebody who registers. */
export const inviterOf = async (tx: Transaction, code: string): Promise<number | null> => {
  const [row] = await tx
    .select({ userId: invites.userId })
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
  return row?.userId ?? null;
};

/** How many came by a person's links since so many hours ago and brought tokens. */
export const cameWithin = async (db: Executor, userId: number, hours: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(invited)
    .where(
      and(
        eq(invited.inviterId, userId),
        gt(invited.tokens, 0),
        gt(invited.createdAt, sql`now() - make_interval(hours => ${hours})`),
      ),
    );
  return row?.count ?? 0;
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
    })
    .from(invited)
    .where(eq(invited.inviterId, userId));
  return row ?? { count: 0, tokens: 0 };
};

export const invitedPage = (
  db: Executor,
  userId: number,
  { offset, limit }: { offset: number; limit: number },
) =>
  db
    .select({ userName: users.userName, tokens: invited.tokens, createdAt: invited.createdAt })
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
  await db
    .insert(accountFiles)
    .values({ ...rest, expiresAt: sql`now() + make_interval(days => ${days})` });
};

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

/** What says who somebody was goes; the row stays, for what others and the books need of it. */
export const erasePerson = async (tx: Transaction, userId: number): Promise<void> => {
  await tx
    .update(users)
    .set({
      account: null,
      userName: '已注销用户',
      passwordHash: null,
      email: '',
      avatar: '',
      setting: {},
      disabled: true,
      subscribe: 0,
      deletedAt: sql`now()`,
    })
    .where(eq(users.id, userId));
  await tx.execute(
    sql`UPDATE consumptions SET human = '' WHERE user_id = ${userId} AND human <> ''`,
  );
  await tx.execute(sql`UPDATE jobs SET title = '', input = '{}' WHERE user_id = ${userId}
    AND finished_at IS NOT NULL`);
  await tx.execute(sql`UPDATE images SET deleted_at = now()
    WHERE user_id = ${userId} AND deleted_at IS NULL`);
  await tx.execute(sql`UPDATE invoices SET title = '', tax_number = '', email = ''
    WHERE user_id = ${userId} AND state <> 'requested'`);
  for (const table of ['favorites', 'notice_reads', 'keyword_marks', 'pins', 'invites'])
    await tx.execute(sql`DELETE FROM ${sql.identifier(table)} WHERE user_id = ${userId}`);
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
