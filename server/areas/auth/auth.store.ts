import { and, desc, eq, gt, isNull, lt, ne, or, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Settings } from '#contract/auth.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { logins, users } from '#server/db/schema.ts';
import { lockOwner, personOf } from '#server/db/person.ts';
import { statement } from '#server/db/statement.ts';
import { captchas, tickets } from './auth.tables.ts';

type UserRow = Omit<
  typeof users.$inferSelect,
  | 'passwordHash'
  | 'disabled'
  | 'vipActivatedAt'
  | 'vipEndTold'
  | 'mergedInto'
  | 'createdAt'
  | 'erasedAt'
>;

const userOf = statement<UserRow>(
  'user_of',
  `SELECT id::float8 AS id, account, user_name AS "userName", email, avatar, guest, manager, owner,
     session_blacklist AS "sessionBlacklist", session_private AS "sessionPrivate",
     vip_expired_at AS "vipExpiredAt", vip_end_seen AS "vipEndSeen", subscribe, setting
   FROM users WHERE id = $1`,
  { shared: true },
);

export const findUser = async (db: Executor, id: number): Promise<UserRow | null> =>
  (await userOf(db, [id]))[0] ?? null;

export const findAccount = async (db: Executor, account: string) => {
  const [row] = await db
    .select({ id: users.id, passwordHash: users.passwordHash, disabled: users.disabled })
    .from(users)
    .where(eq(users.account, account));
  return row ?? null;
};

/** What somebody signs in with; null where they cannot by a password. */
export const credentialsOf = async (
  db: Executor,
  id: number,
): Promise<{ account: string; passwordHash: string } | null> => {
  const [row] = await db
    .select({ account: users.account, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.id, id));
  const { account, passwordHash } = row ?? {};
  return account && passwordHash ? { account, passwordHash } : null;
};

/** Gives the new person's id, or null when the account is taken. */
export const insertUser = async (
  db: Executor,
  values: typeof users.$inferInsert,
): Promise<number | null> => {
  const [row] = await db
    .insert(users)
    .values(values)
    .onConflictDoNothing({ target: users.account })
    .returning({ id: users.id });
  return row?.id ?? null;
};

export const hasManager = async (db: Executor): Promise<boolean> => {
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(eq(users.manager, true))
    .limit(1);
  return rows.length > 0;
};

/** Retires a guest whose sessions went to an account. False if that was done before. */
export const retireGuest = async (
  db: Executor,
  guestId: number,
  accountId: number,
): Promise<boolean> => {
  const retired = await db
    .update(users)
    .set({ mergedInto: accountId })
    .where(and(eq(users.id, guestId), eq(users.guest, true), isNull(users.mergedInto)))
    .returning({ id: users.id });
  await db
    .update(logins)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(logins.userId, guestId), isNull(logins.revokedAt)));
  return retired.length > 0;
};

/** Changes the given settings and leaves the others; gives all of them. */
export const mergeSettings = async (
  db: Executor,
  userId: number,
  changes: Settings,
): Promise<Settings> => {
  const [row] = await db
    .update(users)
    .set({ setting: sql`${users.setting} || ${JSON.stringify(changes)}::jsonb` })
    .where(eq(users.id, userId))
    .returning({ setting: users.setting });
  return row?.setting ?? {};
};

// ---- logins ----------------------------------------------------------------

/** Whether an account was made, or entered with a login that is still known, from a network. */
export const wasEnteredFrom = async (
  db: Executor,
  userId: number,
  network: string,
): Promise<boolean> => {
  const { rows } = await db.execute<{ known: boolean }>(sql`
    SELECT ${network} <> '' AND (EXISTS (SELECT FROM users
        WHERE id = ${userId} AND made_in = ${network})
      OR EXISTS (SELECT FROM logins WHERE user_id = ${userId} AND network = ${network})) AS known`);
  return rows[0]?.known === true;
};

/**
 * The password that stands, by its hash. Whoever sets another, and ends the logins with it, waits
 * until this transaction ends: none is made between the two that they do not see.
 */
export const holdPassword = async (tx: Transaction, userId: number): Promise<string | null> => {
  const [row] = await tx
    .select({ passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.id, userId))
    .for('share');
  return row?.passwordHash ?? null;
};

/**
 * Keeps a login from being ended, and its account from a new password, until this transaction ends.
 * False: it was ended meanwhile.
 */
export const holdLogin = async (
  tx: Executor,
  { id, jti }: { id: number; jti: string },
): Promise<boolean> => {
  await lockOwner(tx, id);
  const rows = await tx
    .select({ jti: logins.jti })
    .from(logins)
    .where(and(eq(logins.jti, jti), isNull(logins.revokedAt)))
    .for('share');
  return rows.length > 0;
};

/** False when the account is gone: disabled, or a guest that an account took over. */
export const insertLogin = async (
  db: Executor,
  login: {
    jti: string;
    userId: number;
    agent: string;
    seconds: number;
    fresh: boolean;
    /** A mark of it; empty: it is not known. */
    network: string;
  },
): Promise<boolean> => {
  const [row] = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, login.userId), eq(users.disabled, false), isNull(users.mergedInto)));
  if (!row) return false;
  await db.insert(logins).values({
    jti: login.jti,
    userId: login.userId,
    agent: login.agent,
    fresh: login.fresh,
    network: login.network,
    // A device that is known goes on where it was told last; a fresh one is told of later ones alone.
    ...(!login.fresh && {
      toldAt: sql`coalesce((SELECT max(told_at) FROM logins
        WHERE user_id = ${login.userId} AND NOT fresh), now())`,
    }),
    expiresAt: sql`now() + make_interval(secs => ${login.seconds})`,
  });
  return true;
};

interface LoginRow {
  id: number;
  userName: string;
  guest: boolean;
  person: string;
  manager: boolean;
  owner: boolean;
  auditor: boolean;
  minor: boolean;
  askedToAgree: boolean;
  disabled: boolean;
  sessionPrivate: boolean;
  sessionBlacklist: boolean;
}

/** A login l of a person u that is neither revoked nor over nor, of days $2, too old. */
const standing = `l.revoked_at IS NULL AND l.expires_at > now() AND u.merged_into IS NULL
     AND (u.guest OR l.created_at > now() - make_interval(days => $2))`;

const loginOf = statement<LoginRow>(
  'login_of',
  `SELECT u.id::float8 AS id, u.user_name AS "userName", u.guest, u.manager, u.owner, u.auditor, u.disabled,
     ${personOf} AS person, u.session_private OR m.active IS TRUE AS "sessionPrivate", m.active IS TRUE AS minor, u.session_blacklist AS "sessionBlacklist",
     EXISTS (SELECT FROM compliance WHERE settings ->> 'ask_agreements' = '1') AS "askedToAgree"
   FROM logins l JOIN users u ON u.id = l.user_id
     LEFT JOIN (SELECT user_id, active FROM minors, compliance WHERE settings ->> 'minors' = '1') m
       ON m.user_id = u.id
   WHERE l.jti = $1 AND ${standing}`,
  { shared: true },
);

const standingOf = statement<{ jti: string }>(
  'standing_logins',
  `SELECT l.jti FROM logins l JOIN users u ON u.id = l.user_id
   WHERE l.jti = ANY ($1::uuid[]) AND NOT u.disabled AND ${standing}`,
);

/** Those of these logins that findLogin would find, of accounts that are not disabled. */
export const standingLogins = async (
  db: Executor,
  jtis: string[],
  days: number,
): Promise<string[]> => (await standingOf(db, [jtis, days])).map(({ jti }) => jti);

/**
 * The person of a login that is neither revoked nor over.
 * @param days the age at which it ends however often it is used; a guest, who has no password to
 *   come back with, keeps theirs
 */
export const findLogin = async (
  db: Executor,
  jti: string,
  days: number,
): Promise<LoginRow | null> => (await loginOf(db, [jti, days]))[0] ?? null;

/** Whether a login would run on, were it not so many days old. */
export const isTooOld = async (db: Executor, jti: string, days: number): Promise<boolean> =>
  (await db.$count(
    logins,
    and(
      eq(logins.jti, jti),
      isNull(logins.revokedAt),
      lt(logins.createdAt, sql`now() - make_interval(days => ${days})`),
    ),
  )) > 0;

/** Whether the person of a login proved in the last seconds that it is they. */
export const isConfirmed = async (db: Executor, jti: string, seconds: number): Promise<boolean> =>
  (await db.$count(
    logins,
    and(
      eq(logins.jti, jti),
      gt(logins.confirmedAt, sql`now() - make_interval(secs => ${seconds})`),
    ),
  )) > 0;

export const confirmLogin = async (db: Executor, jti: string): Promise<void> => {
  await db
    .update(logins)
    .set({ confirmedAt: sql`now()` })
    .where(eq(logins.jti, jti));
};

/** The newest fresh login of the person of this one that it was not told of; null: none. */
export const newSignIn = async (db: Executor, jti: string) => {
  const own = alias(logins, 'own');
  const [row] = await db
    .select({ agent: logins.agent, createdAt: logins.createdAt })
    .from(logins)
    .innerJoin(own, eq(own.jti, jti))
    .where(
      and(
        eq(logins.userId, own.userId),
        ne(logins.jti, jti),
        logins.fresh,
        gt(logins.createdAt, own.toldAt),
      ),
    )
    .orderBy(desc(logins.createdAt))
    .limit(1);
  return row ?? null;
};

export const noteTold = async (db: Executor, jti: string): Promise<void> => {
  await db
    .update(logins)
    .set({ toldAt: sql`now()` })
    .where(eq(logins.jti, jti));
};

/** Whether a person is signed in anywhere. */
export const hasLogin = async (db: Executor, userId: number): Promise<boolean> => {
  const rows = await db
    .select({ jti: logins.jti })
    .from(logins)
    .where(
      and(eq(logins.userId, userId), isNull(logins.revokedAt), gt(logins.expiresAt, sql`now()`)),
    )
    .limit(1);
  return rows.length > 0;
};

export const prolongLogin = async (db: Executor, jti: string, seconds: number): Promise<void> => {
  await db
    .update(logins)
    .set({ expiresAt: sql`now() + make_interval(secs => ${seconds})` })
    .where(and(eq(logins.jti, jti), isNull(logins.revokedAt)));
};

export const revokeLogin = async (db: Executor, jti: string): Promise<void> => {
  await db
    .update(logins)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(logins.jti, jti), isNull(logins.revokedAt)));
  await db.delete(tickets).where(eq(tickets.jti, jti));
};

// ---- tickets, captchas --------------------------------------------------------

export const insertTicket = async (
  db: Executor,
  values: typeof tickets.$inferInsert,
): Promise<void> => {
  await db.insert(tickets).values(values);
};

/** Uses a ticket up; gives its login. One of another reply than this is none. */
export const takeTicket = async (
  db: Executor,
  hash: Buffer,
  historyId: number | null,
): Promise<string | null> => {
  const [row] = await db
    .delete(tickets)
    .where(
      and(
        eq(tickets.hash, hash),
        gt(tickets.expiresAt, sql`now()`),
        or(
          isNull(tickets.historyId),
          historyId === null ? undefined : eq(tickets.historyId, historyId),
        ),
      ),
    )
    .returning({ jti: tickets.jti });
  return row?.jti ?? null;
};

export const insertCaptcha = async (
  db: Executor,
  values: typeof captchas.$inferInsert,
): Promise<void> => {
  await db.insert(captchas).values(values);
};

export const takeCaptcha = async (db: Executor, id: string): Promise<string | null> => {
  const [row] = await db
    .delete(captchas)
    .where(and(eq(captchas.id, id), gt(captchas.expiresAt, sql`now()`)))
    .returning({ answer: captchas.answer });
  return row?.answer ?? null;
};

export const removeExpired = async (db: Executor): Promise<void> => {
  const now = sql`now()`;
  await db.delete(tickets).where(lt(tickets.expiresAt, now));
  await db.delete(captchas).where(lt(captchas.expiresAt, now));
  await db.delete(logins).where(lt(logins.expiresAt, now));
  // The table is rate-limiter-flexible's; `expire` is in ms since 1970.
  await db.execute(sql`DELETE FROM rate_limits WHERE expire < extract(epoch FROM now()) * 1000`);
};
