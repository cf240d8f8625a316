import { desc, eq, lt, sql } from 'drizzle-orm';
import { type Compliance, usualCompliance } from '#contract/compliance.ts';
import { batched } from '#server/db/batched.ts';
import type { Executor } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import { compliance, type LabelKind, labels, unmarkedDownloads } from './compliance.tables.ts';

const settingsAsTheyAre = statement<{ settings: Partial<Compliance> }>(
  'compliance_settings',
  'SELECT settings FROM compliance',
  { shared: true },
);

const readNow = async (db: Executor): Promise<Compliance> => {
  const [row] = await settingsAsTheyAre(db, []);
  return { ...usualCompliance, ...row?.settings };
};

/** Whoever asks while it is read gets what the next read finds. */
const readForAll = batched(async (db, asked: readonly null[]) => {
  const found = await readNow(db);
  return asked.map(() => found);
}, Infinity);

export const readCompliance = (db: Executor): Promise<Compliance> =>
  '$client' in db ? readForAll(db, null) : readNow(db);

/** What manifests are signed with; empty and null: nothing. */
export const readSigner = async (
  db: Executor,
): Promise<{ chain: string; sealed: Buffer | null }> => {
  const [row] = await db.select().from(compliance);
  return { chain: row?.settings.c2pa_chain ?? '', sealed: row?.signingKey ?? null };
};

/**
 * Changes some of the settings; gives all.
 * @param signingKey undefined: it stays as it is
 */
export const writeCompliance = async (
  db: Executor,
  change: Partial<Compliance>,
  signingKey?: Buffer | null,
): Promise<Compliance> => {
  const [row] = await db
    .update(compliance)
    .set({
      settings: sql`${compliance.settings} || ${JSON.stringify(change)}::jsonb`,
      ...(signingKey === undefined ? {} : { signingKey }),
    })
    .returning();
  return { ...usualCompliance, ...row?.settings };
};

export const insertLabel = async (
  db: Executor,
  row: { id: string; userId: number | null; kind: LabelKind; model: string },
): Promise<void> => {
  await db.insert(labels).values(row).onConflictDoNothing();
};

/**
 * Labels older than a year of what is made again whenever it is asked for, and older than three years
 * of what is kept.
 */
export const removeOldLabels = async (db: Executor): Promise<void> => {
  await db.execute(sql`DELETE FROM ${labels} WHERE id IN (
    SELECT id FROM ${labels} WHERE created_at < now() - interval '3 years'
      OR (kind IN ('speech', 'export') AND created_at < now() - interval '1 year')
    ORDER BY created_at LIMIT 10000)`);
};

/** A guest became an account. */
export const moveLabels = async (db: Executor, from: number, to: number): Promise<void> => {
  await db.update(labels).set({ userId: to }).where(eq(labels.userId, from));
};

/** What is known of a label, with its person's name; null: nothing. */
export const labelById = async (db: Executor, id: string) => {
  const [row] = await db
    .select({
      id: labels.id,
      kind: labels.kind,
      model: labels.model,
      userId: labels.userId,
      userName: users.userName,
      createdAt: labels.createdAt,
    })
    .from(labels)
    .leftJoin(users, eq(users.id, labels.userId))
    .where(eq(labels.id, id));
  return row ?? null;
};

/** One row of a person and an image; taken again its time is the new one. */
export const noteUnmarked = async (
  db: Executor,
  userId: number,
  imageKey: string,
): Promise<void> => {
  await db
    .insert(unmarkedDownloads)
    .values({ userId, imageKey })
    .onConflictDoUpdate({
      target: [unmarkedDownloads.userId, unmarkedDownloads.imageKey],
      set: { createdAt: sql`now()` },
    });
};

/** Rows older than the six months that they have to be kept. */
export const removeOldUnmarked = async (db: Executor): Promise<void> => {
  await db
    .delete(unmarkedDownloads)
    .where(lt(unmarkedDownloads.createdAt, sql`now() - interval '6 months'`));
};

/** Who took images without the words, the latest first. */
export const listUnmarked = async (db: Executor, page: { offset: number; limit: number }) =>
  db
    .select({
      userId: unmarkedDownloads.userId,
      userName: users.userName,
      imageKey: unmarkedDownloads.imageKey,
      createdAt: unmarkedDownloads.createdAt,
    })
    .from(unmarkedDownloads)
    .leftJoin(users, eq(users.id, unmarkedDownloads.userId))
    .orderBy(desc(unmarkedDownloads.createdAt))
    .offset(page.offset)
    .limit(page.limit);
