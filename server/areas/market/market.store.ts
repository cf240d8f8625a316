import { and, desc, eq, inArray, isNull, not, sql } from 'drizzle-orm';
import type { AppState } from '#contract/market.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { suspended } from '#server/db/suspended.ts';
import { users } from '#server/db/schema.ts';
import { namedIn, showsWhere } from '#server/db/shown.ts';
import { ordered } from '#server/db/ordered.ts';
import type { Sorting } from '#server/sorting.ts';
import {
  appComments,
  appDownloads,
  appPurchases,
  appReports,
  apps,
  appVersions,
} from './market.tables.ts';

export type AppRow = typeof apps.$inferSelect;
export type VersionRow = typeof appVersions.$inferSelect;

export interface Window {
  offset: number;
  limit: number;
}

/** What stands beside an app wherever it is shown. */
const beside = {
  ratingCount: sql<number>`(SELECT count(*)::int FROM app_comments c WHERE c.app_id = apps.id)`,
  /** In halves; null: nobody has rated it. */
  ratingMean: sql<
    number | null
  >`(SELECT avg(c.rating)::float8 FROM app_comments c WHERE c.app_id = apps.id)`,
  downloads: sql<number>`(SELECT count(*)::int FROM app_downloads d WHERE d.app_id = apps.id)`,
};
const newest = sql`(SELECT max(v.id) FROM app_versions v WHERE v.app_id = apps.id)`;

/** What this person has bought, and has an older version of than the newest. */
const has = (userId: number) => ({
  bought: sql<boolean>`EXISTS (SELECT FROM app_purchases p
    WHERE p.app_id = apps.id AND p.user_id = ${userId} AND p.revoked_at IS NULL)`,
  outdated: sql<boolean>`coalesce((SELECT max(d.version_id) FROM app_downloads d
    WHERE d.app_id = apps.id AND d.user_id = ${userId}) < ${newest}, false)`,
});

const shownFields = { app: apps, version: appVersions, ...beside };
export interface ShownRow {
  app: AppRow;
  /** The newest. */
  version: VersionRow | null;
  ratingCount: number;
  ratingMean: number | null;
  downloads: number;
}

const matches = (query: string | undefined) =>
  query
    ? sql`strpos(lower(${apps.title} || ' ' || ${apps.developer} || ' ' || ${apps.source} || ' ' || ${apps.type}), ${query.toLowerCase()}) > 0`
    : undefined;

const counted = async (db: Executor, where: ReturnType<typeof and>): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(apps)
    .where(where);
  return row?.count ?? 0;
};

export const publishedApps = async (
  db: Executor,
  asked: {
    type: string | undefined;
    query: string | undefined;
    mine: 'bought' | 'outdated' | undefined;
    /** 0: nobody. */
    userId: number;
  },
  { offset, limit }: Window,
): Promise<{ list: (ShownRow & { bought: boolean; outdated: boolean })[]; total: number }> => {
  const { type, query, mine, userId } = asked;
  const own = has(userId);
  const where = and(
    // Taken down, it is still its buyers'.
    mine === 'bought' ? and(own.bought, not(eq(apps.state, 'draft'))) : eq(apps.state, 'published'),
    mine === 'outdated' ? own.outdated : undefined,
    type ? eq(apps.type, type) : undefined,
    matches(query),
  );
  const list = await db
    .select({ ...shownFields, ...own })
    .from(apps)
    .leftJoin(appVersions, eq(appVersions.id, newest))
    .where(where)
    .orderBy(desc(apps.publishedAt), desc(apps.id))
    .offset(offset)
    .limit(limit);
  return { list, total: await counted(db, where) };
};

export const publishedTypes = async (db: Executor): Promise<string[]> => {
  const rows = await db
    .select({ type: apps.type })
    .from(apps)
    .where(and(eq(apps.state, 'published'), sql`${apps.type} <> ''`))
    .groupBy(apps.type)
    .orderBy(sql`count(*) DESC`, apps.type);
  return rows.map(({ type }) => type);
};

export const shownApp = async (db: Executor, id: number): Promise<ShownRow | null> => {
  const [row] = await db
    .select(shownFields)
    .from(apps)
    .leftJoin(appVersions, eq(appVersions.id, newest))
    .where(eq(apps.id, id));
  return row ?? null;
};

export const findApp = async (db: Executor, id: number): Promise<AppRow | null> => {
  const [row] = await db.select().from(apps).where(eq(apps.id, id));
  return row ?? null;
};

export const lockApp = async (db: Executor, id: number): Promise<AppRow | null> => {
  const [row] = await db.select().from(apps).where(eq(apps.id, id)).for('update');
  return row ?? null;
};

export const insertApp = async (
  db: Executor,
  values: typeof apps.$inferInsert,
): Promise<number> => {
  const [row] = await db.insert(apps).values(values).returning({ id: apps.id });
  if (!row) throw new Error('the app was not stored');
  return row.id;
};

export const changeApp = async (
  db: Executor,
  id: number,
  values: Partial<typeof apps.$inferInsert>,
): Promise<void> => {
  await db
    .update(apps)
    .set({ ...values, updatedAt: new Date() })
    .where(eq(apps.id, id));
};

export const removeApp = async (db: Executor, id: number): Promise<void> => {
  await db.delete(apps).where(eq(apps.id, id));
};

interface ManagedFilter extends Sorting<'managedAppList'> {
  state?: AppState | undefined;
  query?: string | undefined;
}
const managed = ({ state, query }: ManagedFilter) =>
  and(state ? eq(apps.state, state) : undefined, matches(query));

const reportsOfApp = sql<number>`(SELECT count(*)::int FROM app_reports r
  JOIN app_comments c ON c.id = r.comment_id WHERE c.app_id = apps.id)`;

/** What apps sold for stands with their orders: by it `ids` are sorted before. */
const managedSorts = {
  price: apps.price,
  rating: sql`coalesce(${beside.ratingMean}, ${apps.firstRating})`,
  reports: reportsOfApp,
  download_count: beside.downloads,
  sales: apps.id,
  income: apps.id,
  updated_at: apps.updatedAt,
};

/** Numbers of all apps that fit, the newest first. */
export const managedIds = async (db: Executor, filter: ManagedFilter): Promise<number[]> => {
  const rows = await db
    .select({ id: apps.id })
    .from(apps)
    .where(managed(filter))
    .orderBy(desc(apps.id));
  return rows.map(({ id }) => id);
};

/** @param filter `ids`: these alone */
export const managedApps = async (
  db: Executor,
  { ids, ...filter }: ManagedFilter & { ids?: readonly number[] },
  { offset, limit }: Window,
) => {
  const list = await db
    .select({
      ...shownFields,
      versions: sql<number>`(SELECT count(*)::int FROM app_versions v WHERE v.app_id = apps.id)`,
      reports: reportsOfApp,
    })
    .from(apps)
    .leftJoin(appVersions, eq(appVersions.id, newest))
    .where(ids ? inArray(apps.id, [...ids]) : managed(filter))
    .orderBy(...ordered(managedSorts, filter, desc(apps.id)))
    .offset(offset)
    .limit(limit);
  return { list, total: ids?.length ?? (await counted(db, managed(filter))) };
};

/** Covers, screenshots and descriptions. */
export const shownByApps = showsWhere(
  namedIn(sql`concat_ws(' ', cover_image_url, images::text, md_description)`, sql`apps`),
);

// ---- versions ------------------------------------------------------------------------------------

export const versionsOf = (db: Executor, appId: number, { offset, limit }: Window) =>
  db
    .select()
    .from(appVersions)
    .where(eq(appVersions.appId, appId))
    .orderBy(desc(appVersions.id))
    .offset(offset)
    .limit(limit);

export const countVersions = async (db: Executor, appId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(appVersions)
    .where(eq(appVersions.appId, appId));
  return row?.count ?? 0;
};

export const findVersion = async (db: Executor, id: number): Promise<VersionRow | null> => {
  const [row] = await db.select().from(appVersions).where(eq(appVersions.id, id));
  return row ?? null;
};

/** Null: the app has a version of that name. */
export const insertVersion = async (
  db: Executor,
  values: typeof appVersions.$inferInsert,
): Promise<number | null> => {
  const [row] = await db
    .insert(appVersions)
    .values(values)
    .onConflictDoNothing()
    .returning({ id: appVersions.id });
  return row?.id ?? null;
};

export const changeVersion = async (
  db: Executor,
  id: number,
  values: Partial<typeof appVersions.$inferInsert>,
): Promise<void> => {
  await db.update(appVersions).set(values).where(eq(appVersions.id, id));
};

// ---- comments ------------------------------------------------------------------------------------

const commentFields = {
  comment: appComments,
  userName: users.userName,
  avatar: users.avatar,
};

export const commentsOf = (db: Executor, appId: number, { offset, limit }: Window) =>
  db
    .select(commentFields)
    .from(appComments)
    .innerJoin(users, eq(users.id, appComments.userId))
    .where(and(eq(appComments.appId, appId), not(suspended(appComments.userId))))
    .orderBy(desc(appComments.id))
    .offset(offset)
    .limit(limit);

const reportsOfComment = sql<number>`(SELECT count(*)::int FROM app_reports r
  WHERE r.comment_id = ${appComments.id})`;

/** The same for managers: those that were reported first. */
export const managedComments = (db: Executor, appId: number, { offset, limit }: Window) =>
  db
    .select({
      ...commentFields,
      version: appVersions.version,
      description: appVersions.description,
      reports: reportsOfComment,
    })
    .from(appComments)
    .innerJoin(users, eq(users.id, appComments.userId))
    .leftJoin(appVersions, eq(appVersions.id, appComments.versionId))
    .where(eq(appComments.appId, appId))
    .orderBy(desc(reportsOfComment), desc(appComments.id))
    .offset(offset)
    .limit(limit);

export const commentOf = async (db: Executor, appId: number, userId: number) => {
  const [row] = await db
    .select(commentFields)
    .from(appComments)
    .innerJoin(users, eq(users.id, appComments.userId))
    .where(and(eq(appComments.appId, appId), eq(appComments.userId, userId)));
  return row ?? null;
};

/** How often each rating was given, in halves. */
export const ratingsOf = (db: Executor, appId: number) =>
  db
    .select({ rating: appComments.rating, count: sql<number>`count(*)::int` })
    .from(appComments)
    .where(eq(appComments.appId, appId))
    .groupBy(appComments.rating);

/** Writes what a person says of an app, in the place of what they said before. */
export const putComment = async (
  db: Executor,
  values: {
    appId: number;
    userId: number;
    versionId: number | null;
    rating: number;
    content: string;
  },
): Promise<void> => {
  const { rating, content, versionId } = values;
  await db
    .insert(appComments)
    .values(values)
    .onConflictDoUpdate({
      target: [appComments.appId, appComments.userId],
      set: { rating, content, versionId, editedAt: new Date() },
    });
};

export const removeComment = async (db: Executor, id: number) => {
  const [row] = await db.delete(appComments).where(eq(appComments.id, id)).returning();
  return row ?? null;
};

export const removeOwnComment = async (
  db: Executor,
  appId: number,
  userId: number,
): Promise<boolean> => {
  const rows = await db
    .delete(appComments)
    .where(and(eq(appComments.appId, appId), eq(appComments.userId, userId)))
    .returning({ id: appComments.id });
  return rows.length > 0;
};

export const appOfComment = async (db: Executor, id: number): Promise<number | null> => {
  const [row] = await db
    .select({ appId: appComments.appId })
    .from(appComments)
    .where(eq(appComments.id, id));
  return row?.appId ?? null;
};

export const insertReport = async (
  db: Executor,
  values: typeof appReports.$inferInsert,
): Promise<void> => {
  await db.insert(appReports).values(values).onConflictDoNothing();
};

// ---- the right to download -----------------------------------------------------------------------

/** Those of the apps that a person has. */
export const ownedApps = async (
  db: Executor,
  userId: number,
  appIds: readonly number[],
): Promise<Set<number>> => {
  const rows = await db
    .select({ appId: appPurchases.appId })
    .from(appPurchases)
    .where(
      and(
        eq(appPurchases.userId, userId),
        inArray(appPurchases.appId, [...appIds]),
        isNull(appPurchases.revokedAt),
      ),
    );
  return new Set(rows.map(({ appId }) => appId));
};

export const addPurchase = async (
  db: Executor,
  values: { appId: number; userId: number; orderId: number | null },
): Promise<void> => {
  await db.insert(appPurchases).values(values).onConflictDoNothing();
};

export const revokePurchase = async (
  tx: Transaction,
  orderId: number,
  revoked: boolean,
): Promise<void> => {
  await tx
    .update(appPurchases)
    .set({ revokedAt: revoked ? new Date() : null })
    .where(eq(appPurchases.orderId, orderId));
};

/** Whether an account may still do things. */
export const isServed = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({ guest: users.guest, manager: users.manager })
    .from(users)
    .where(and(eq(users.id, userId), eq(users.disabled, false), isNull(users.deletedAt)));
  return row ?? null;
};

/** Notes that a link was used; false: it was before. */
export const useLink = async (
  db: Executor,
  values: typeof appDownloads.$inferInsert,
): Promise<boolean> => {
  const rows = await db
    .insert(appDownloads)
    .values(values)
    .onConflictDoNothing()
    .returning({ id: appDownloads.id });
  return rows.length > 0;
};

export const usedLink = async (db: Executor, nonce: string) => {
  const [row] = await db.select().from(appDownloads).where(eq(appDownloads.nonce, nonce));
  return row ?? null;
};

// ---- all that is a person's ----------------------------------------------------------------------

export const purchasesOf = (db: Executor, userId: number) =>
  db
    .select({
      title: apps.title,
      order: sql<
        string | null
      >`(SELECT o.number FROM orders o WHERE o.id = ${appPurchases.orderId})`,
      createdAt: appPurchases.createdAt,
      revokedAt: appPurchases.revokedAt,
    })
    .from(appPurchases)
    .innerJoin(apps, eq(apps.id, appPurchases.appId))
    .where(eq(appPurchases.userId, userId))
    .orderBy(desc(appPurchases.id));

export const commentsBy = (db: Executor, userId: number) =>
  db
    .select({ title: apps.title, comment: appComments })
    .from(appComments)
    .innerJoin(apps, eq(apps.id, appComments.appId))
    .where(eq(appComments.userId, userId))
    .orderBy(desc(appComments.id));
