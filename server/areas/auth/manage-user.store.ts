import { and, desc, eq, gt, inArray, isNotNull, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Executor } from '#server/db/database.ts';
import { users, wallets } from '#server/db/schema.ts';
import { ordered } from '#server/db/ordered.ts';
import { requireSortable, type Sorting } from '#server/sorting.ts';

/** Who somebody is, and what they may. */
const rights = {
  id: users.id,
  account: users.account,
  userName: users.userName,
  guest: users.guest,
  manager: users.manager,
  owner: users.owner,
  auditor: users.auditor,
  disabled: users.disabled,
  sessionBlacklist: users.sessionBlacklist,
  sessionPrivate: users.sessionPrivate,
  vipExpiredAt: users.vipExpiredAt,
  subscribe: users.subscribe,
  peopleGroup: users.peopleGroup,
};

const columns = {
  ...rights,
  email: users.email,
  avatar: users.avatar,
  balance: sql<number>`coalesce(${wallets.balance}, 0)::float8`,
  vipBalance: sql<number>`coalesce(${wallets.vipBalance}, 0)::float8`,
  createdAt: users.createdAt,
};
export type ManagedUser = Awaited<ReturnType<typeof pageWhere>>[number];

const kinds: Readonly<Record<NonNullable<Parsed<'adminUserList'>['kind']>, SQL | undefined>> = {
  account: eq(users.guest, false),
  guest: eq(users.guest, true),
  vip: gt(users.vipExpiredAt, sql`now()`),
  subscriber: gt(users.subscribe, 0),
  disabled: eq(users.disabled, true),
  manager: eq(users.manager, true),
};

/** As it is written first: to make a name small takes longer than all the rest. */
const named = (wanted: string): SQL | undefined =>
  or(
    sql`strpos(${users.userName}, ${wanted}) > 0`,
    sql`strpos(lower(${users.account}), lower(${wanted})) > 0`,
    sql`strpos(lower(${users.userName}), lower(${wanted})) > 0`,
  );

export type UserFilter = Pick<
  Parsed<'adminUserList'>,
  'user_id' | 'query' | 'kind' | 'people_group'
> &
  Sorting<'adminUserList'>;

const conditions = ({ user_id: id, kind, people_group: group }: UserFilter): SQL | undefined =>
  and(
    isNull(users.mergedInto),
    id === undefined ? undefined : eq(users.id, id),
    group === undefined ? undefined : eq(users.peopleGroup, group),
    kind && kinds[kind],
  );

interface Part {
  offset: number;
  limit: number;
}

const sortColumns = {
  created_at: users.createdAt,
  chatgpt_balance: columns.balance,
  vip_expired_at: users.vipExpiredAt,
};

const pageWhere = (
  db: Executor,
  where: SQL | undefined,
  { offset, limit }: Part,
  sorting: Sorting<'adminUserList'> = {},
) =>
  db
    .select(columns)
    .from(users)
    .leftJoin(wallets, eq(wallets.userId, users.id))
    .where(where)
    .orderBy(...ordered(sortColumns, sorting, desc(users.id)))
    .offset(offset)
    .limit(limit);

/** How many of the newest are looked at to tell how common a name is. */
const looked = 1000;

/** Those of the newest people who are named so, newest first, and whether most of them are. */
const newestNamed = async (db: Executor, filter: UserFilter, wanted: string) => {
  const newest = db
    .select({
      id: users.id,
      account: users.account,
      userName: users.userName,
      fits: sql<boolean>`${conditions(filter)}`.as('fits'),
    })
    .from(users)
    .where(isNull(users.mergedInto))
    .orderBy(desc(users.id))
    .limit(looked)
    .as('users');
  const found = await db
    .select({ id: newest.id, fits: newest.fits })
    .from(newest)
    .where(named(wanted))
    .orderBy(desc(newest.id));
  return {
    ids: found.filter(({ fits }) => fits).map(({ id }) => id),
    common: found.length > looked / 2,
  };
};

const sortedPage = async (
  db: Executor,
  where: SQL | undefined,
  part: Part,
  sorting: Sorting<'adminUserList'>,
) => {
  const total = await countUpTo(db, users, where);
  requireSortable('adminUserList', sorting, total);
  return { rows: await pageWhere(db, where, part, sorting), total };
};

/**
 * A page of who is named so, and how many are. What the newest show of a page is taken from them;
 * what is rare among them is found by the index by parts of names, which would only cost where
 * most are named so.
 */
const pageOfNamed = async (db: Executor, filter: UserFilter, wanted: string, part: Part) => {
  const { ids, common } = await newestNamed(db, filter, wanted);
  const { offset, limit } = part;
  const isNewestFirst = filter.sort === undefined;
  const shown =
    isNewestFirst && ids.length >= offset + limit ? ids.slice(offset, offset + limit) : null;
  const where = and(
    conditions(filter),
    common
      ? undefined
      : sql`name_grams(${users.account}, ${users.userName}) @> sought_grams(${wanted})`,
    named(wanted),
  );
  const pageOfIds = (those: readonly number[]) =>
    those.length === 0
      ? []
      : pageWhere(db, inArray(users.id, [...those]), { offset: 0, limit: those.length });
  if (!isNewestFirst) return sortedPage(db, where, part, filter);
  if (shown || common) {
    const [rows, total] = await Promise.all([
      shown ? pageOfIds(shown) : pageWhere(db, where, part),
      countUpTo(db, users, where),
    ]);
    return { rows, total };
  }
  const { rows } = await db.execute<{ total: number; ids: number[] }>(sql`
    WITH hits AS MATERIALIZED (SELECT ${users.id} AS id FROM ${users} WHERE ${where})
    SELECT (SELECT least(count(*), ${limits.counted})::int FROM hits) AS total,
      ARRAY(SELECT id::float8 FROM hits ORDER BY hits.id DESC OFFSET ${offset} LIMIT ${limit}) AS ids`);
  return { rows: await pageOfIds(rows[0]?.ids ?? []), total: rows[0]?.total ?? 0 };
};

export const pageOfUsers = async (
  db: Executor,
  filter: UserFilter,
  part: Part,
): Promise<{ rows: ManagedUser[]; total: number }> => {
  const wanted = filter.query?.trim() ?? '';
  if (wanted !== '') return pageOfNamed(db, filter, wanted, part);
  return sortedPage(db, conditions(filter), part, filter);
};

export const userOf = async (db: Executor, id: number): Promise<ManagedUser | null> => {
  const rows = await pageWhere(db, conditions({ user_id: id }), { offset: 0, limit: 1 });
  return rows[0] ?? null;
};

/** A person's row, its changes waiting until the transaction ends. */
export const lockUser = async (db: Executor, id: number) => {
  const [row] = await db
    .select({ ...rights, vipActivatedAt: users.vipActivatedAt })
    .from(users)
    .where(and(eq(users.id, id), isNull(users.mergedInto)))
    .for('no key update');
  return row ?? null;
};
export type LockedUser = NonNullable<Awaited<ReturnType<typeof lockUser>>>;

export const changeUser = async (
  db: Executor,
  id: number,
  values: Partial<typeof users.$inferInsert>,
): Promise<void> => {
  if (Object.keys(values).length > 0) await db.update(users).set(values).where(eq(users.id, id));
};

export const countOwners = async (db: Executor): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(users)
    .where(and(eq(users.owner, true), eq(users.disabled, false)));
  return row?.count ?? 0;
};

export const listManagers = (db: Executor) =>
  db
    .select({
      id: users.id,
      account: users.account,
      userName: users.userName,
      owner: users.owner,
      auditor: users.auditor,
    })
    .from(users)
    .where(and(eq(users.manager, true), isNotNull(users.account)))
    .orderBy(desc(users.owner), users.id);

interface Made extends Record<string, unknown> {
  session_count: number;
  history_count: number;
}
interface Spent extends Record<string, unknown> {
  image_count: number;
  today_tokens: number;
  month_tokens: number;
  total_tokens: number;
  file_bytes: number;
  login_count: number;
  last_seen_at: Date | null;
}

const madeBy = async (db: Executor, userId: number): Promise<Made> => {
  const { rows } = await db.execute<Made>(sql`SELECT count(*)::int AS session_count,
    coalesce(sum((SELECT count(*) FROM history h WHERE h.session_id = s.id)), 0)::int
      AS history_count
    FROM sessions s WHERE s.user_id = ${userId}`);
  return rows[0]!;
};

/** What a person made and spent: of two parts each, which take the longest, none waits for the other. */
export const figuresOf = async (db: Executor, userId: number): Promise<Made & Spent> => {
  const [made, spent] = await Promise.all([madeBy(db, userId), spentBy(db, userId)]);
  return { ...made, ...spent };
};

const spentBy = async (db: Executor, userId: number): Promise<Spent> => {
  const { rows } = await db.execute<Spent>(sql`SELECT
    (SELECT count(*)::int FROM images WHERE user_id = ${userId} AND deleted_at IS NULL)
      AS image_count,
    coalesce(sum(u.deduct_tokens) FILTER (
      WHERE u.day = (now() AT TIME ZONE 'Asia/Shanghai')::date), 0)::float8 AS today_tokens,
    coalesce(sum(u.deduct_tokens) FILTER (
      WHERE u.day > (now() AT TIME ZONE 'Asia/Shanghai')::date - 30), 0)::float8 AS month_tokens,
    coalesce(sum(u.deduct_tokens), 0)::float8 AS total_tokens,
    (coalesce((SELECT sum(size) FROM files WHERE user_id = ${userId}), 0)
      + coalesce((SELECT sum(size) FROM images WHERE user_id = ${userId} AND deleted_at IS NULL
          AND origin <> 'uploaded'), 0)
      + coalesce((SELECT sum(f.size) FROM training_files f
          JOIN training_projects p ON p.id = f.project_id WHERE p.user_id = ${userId}), 0))::float8
      AS file_bytes,
    (SELECT count(*)::int FROM logins WHERE user_id = ${userId} AND revoked_at IS NULL
      AND expires_at > now()) AS login_count,
    greatest(
      (SELECT max(created_at) FROM logins WHERE user_id = ${userId}),
      (SELECT created_at FROM consumptions WHERE user_id = ${userId} ORDER BY id DESC LIMIT 1),
      (SELECT max(created_at) FROM history WHERE user_id = ${userId} AND session_id IN
        (SELECT id FROM sessions WHERE user_id = ${userId} AND deleted_at IS NULL
          ORDER BY updated_at DESC LIMIT 20))) AS last_seen_at
    FROM usage_days u WHERE u.user_id = ${userId}`);
  return rows[0]!;
};

/** What a person spent on each of the last 30 days. */
export const daysOf = async (
  db: Executor,
  userId: number,
): Promise<{ days: string; tokens: number }[]> => {
  const { rows } = await db.execute<{ days: string; tokens: number }>(
    sql`SELECT to_char(day, 'YYYY-MM-DD') AS days, sum(deduct_tokens)::float8 AS tokens
      FROM usage_days
      WHERE user_id = ${userId} AND day > (now() AT TIME ZONE 'Asia/Shanghai')::date - 30
      GROUP BY day HAVING sum(deduct_tokens) > 0 ORDER BY day`,
  );
  return rows;
};
