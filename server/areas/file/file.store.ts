import { and, eq, inArray, sql, sum } from 'drizzle-orm';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { ownedBy, type Owners } from '#server/db/person.ts';
import { files } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import type { StoredUpload } from '#server/db/shown.ts';

export type FileRow = typeof files.$inferSelect;

/** Until the end of the transaction nobody else keeps a file for the same person. */
export const lockKeeping = async (tx: Executor, person: string): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`keep ${person}`}, 0))`);
};

/** Bytes that files take. */
export const usedBytes = async (db: Executor, owners: Owners): Promise<number> => {
  const [row] = await db
    .select({ bytes: sum(files.size).mapWith(Number) })
    .from(files)
    .where(ownedBy(files.userId, owners));
  return row?.bytes ?? 0;
};

export const insertFile = async (
  db: Executor,
  file: typeof files.$inferInsert,
): Promise<string> => {
  const [row] = await db.insert(files).values(file).returning({ id: files.id });
  if (!row) throw new Error('the file was not stored');
  return row.id;
};

/** Marks images as used now, by their keys. */
export const touchImages = async (db: Executor, keys: string[]): Promise<void> => {
  await db
    .update(files)
    .set({ seenAt: sql`now()` })
    .where(and(eq(files.kind, 'image'), inArray(files.key, keys)));
};

const imageThere = statement<{ there: boolean }>(
  'file_image_there',
  `SELECT EXISTS (SELECT FROM files WHERE key = $1 AND kind = 'image') AS there`,
  { shared: true },
);

/** Whether there is an uploaded image of this key. */
export const hasImage = async (db: Executor, key: string): Promise<boolean> =>
  (await imageThere(db, [key]))[0]?.there ?? false;

/** Takes an upload's row away. */
export const removeImage = async (db: Executor, key: string): Promise<void> => {
  await db.delete(files).where(and(eq(files.kind, 'image'), eq(files.key, key)));
};

/** Marks a person's texts as used now; gives those that there are, without their text. */
export const touchTexts = (
  db: Executor,
  ids: string[],
  userId: number,
): Promise<(Pick<FileRow, 'id' | 'name' | 'size' | 'tokens'> & { chars: number })[]> =>
  db
    .update(files)
    .set({ seenAt: sql`now()` })
    .where(and(eq(files.kind, 'text'), eq(files.userId, userId), inArray(files.id, ids)))
    .returning({
      id: files.id,
      name: files.name,
      size: files.size,
      tokens: files.tokens,
      chars: sql<number>`length(${files.text})`,
    });

export const findTexts = (
  db: Executor,
  ids: string[],
  userId: number,
): Promise<Pick<FileRow, 'id' | 'key' | 'name' | 'text' | 'cut'>[]> =>
  db
    .select({
      id: files.id,
      key: files.key,
      name: files.name,
      text: files.text,
      cut: files.cut,
    })
    .from(files)
    .where(and(eq(files.kind, 'text'), eq(files.userId, userId), inArray(files.id, ids)));

export const moveFiles = async (db: Executor, fromUserId: number, toUserId: number) => {
  await db.update(files).set({ userId: toUserId }).where(eq(files.userId, fromUserId));
};

/**
 * Files that nothing has looked at for so long that they may be cleared away, the longest first,
 * locked; one that a message is just taking up is locked by it and left.
 */
export const longUnseen = async (db: Executor, most: number): Promise<StoredUpload[]> => {
  const { rows } = await db.execute<StoredUpload & Record<string, unknown>>(sql`
    SELECT id, kind, key, user_id,
      '/files/' || key || CASE WHEN kind = 'other' THEN '.bin' WHEN mime = 'image/png' THEN '.png'
        ELSE '.jpg' END AS url
    FROM files WHERE seen_at < now() - ${`${limits.unusedGuestFileDays} days`}::interval
      AND (seen_at < now() - ${`${limits.unusedFileDays} days`}::interval
        OR EXISTS (SELECT FROM users u WHERE u.id = files.user_id AND u.guest))
    ORDER BY seen_at LIMIT ${most} FOR UPDATE SKIP LOCKED`);
  return rows;
};

export const markSeen = async (db: Executor, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return;
  await db
    .update(files)
    .set({ seenAt: sql`now()` })
    .where(inArray(files.id, [...ids]));
};

/** Takes files out of the table; gives what the storage still has of them. */
export const removeFiles = async (
  db: Executor,
  ids: readonly string[],
): Promise<Pick<FileRow, 'key' | 'kind' | 'mime'>[]> =>
  ids.length === 0
    ? []
    : db
        .delete(files)
        .where(inArray(files.id, [...ids]))
        .returning({ key: files.key, kind: files.kind, mime: files.mime });

/** All that the storage has of what a person uploaded. */
export const storedOf = (
  db: Executor,
  userId: number,
): Promise<Pick<FileRow, 'key' | 'kind' | 'mime'>[]> =>
  db
    .select({ key: files.key, kind: files.kind, mime: files.mime })
    .from(files)
    .where(eq(files.userId, userId));

/** The name and number of bytes of a file that is neither image nor text. */
export const findOther = async (
  db: Executor,
  key: string,
): Promise<Pick<FileRow, 'name' | 'size'> | null> => {
  const [row] = await db
    .select({ name: files.name, size: files.size })
    .from(files)
    .where(and(eq(files.key, key), eq(files.kind, 'other')));
  return row ?? null;
};
