import { and, eq, inArray, sql, sum } from 'drizzle-orm';
import type { Executor } from '../../db/database.ts';
import { files } from '../../db/schema.ts';
import { statement } from '../../db/statement.ts';

export type FileRow = typeof files.$inferSelect;

/** Bytes that a person's files take. */
export const usedBytes = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ bytes: sum(files.size).mapWith(Number) })
    .from(files)
    .where(eq(files.userId, userId));
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

/** Marks pictures as used now, by their keys. */
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

/** Whether there is an uploaded picture of this key. */
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
): Promise<(Pick<FileRow, 'id' | 'name' | 'size'> & { chars: number })[]> =>
  db
    .update(files)
    .set({ seenAt: sql`now()` })
    .where(and(eq(files.kind, 'text'), eq(files.userId, userId), inArray(files.id, ids)))
    .returning({
      id: files.id,
      name: files.name,
      size: files.size,
      chars: sql<number>`length(${files.text})`,
    });

export const findTexts = (
  db: Executor,
  ids: string[],
  userId: number,
): Promise<Pick<FileRow, 'id' | 'name' | 'text' | 'cut'>[]> =>
  db
    .select({
      id: files.id,
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
 * Takes out of the table, from the files least lately looked at, those seven days old to which no
 * message refers whose session is there; gives what the storage still has of them. A file that a
 * message is just taking up is locked by it and left.
 */
export const removeUnused = async (
  db: Executor,
  most: number,
): Promise<Pick<FileRow, 'key' | 'kind' | 'mime'>[]> => {
  const { rows } = await db.execute<{ key: string; kind: FileRow['kind']; mime: string }>(sql`
    WITH looked AS (
      SELECT id FROM files WHERE seen_at < now() - interval '7 days'
      ORDER BY seen_at LIMIT ${most} FOR UPDATE SKIP LOCKED
    ), judged AS (
      SELECT f.id, EXISTS (
        SELECT FROM history h JOIN sessions s ON s.id = h.session_id
        WHERE h.request IS NOT NULL
          AND (CASE f.kind WHEN 'image' THEN
            h.request @> jsonb_build_object('images', jsonb_build_array(a.url))
            OR h.request @> jsonb_build_object('image', jsonb_build_object('base_image', a.url))
            OR h.request @> jsonb_build_object('image', jsonb_build_object('controlnet_image', a.url))
            OR h.request @> jsonb_build_object('image', jsonb_build_object('parameters',
              jsonb_build_object('bg_image', a.url)))
            OR h.request @> jsonb_build_object('image', jsonb_build_object('parameters',
              jsonb_build_object('cref', jsonb_build_array(jsonb_build_object('url', a.url)))))
            OR h.request @> jsonb_build_object('image', jsonb_build_object('parameters',
              jsonb_build_object('sref', jsonb_build_array(jsonb_build_object('url', a.url)))))
          ELSE h.user_id = f.user_id AND
            h.request @> jsonb_build_object('files', jsonb_build_array(
              jsonb_build_object('uuid', f.id)))
          END)
          AND (s.deleted_at IS NULL OR s.deleted_at > now() - interval '30 days')
      ) OR EXISTS (
        SELECT FROM message_images m JOIN history h ON h.id = m.history_id
          JOIN sessions s ON s.id = h.session_id
        WHERE m.key = f.key
          AND (s.deleted_at IS NULL OR s.deleted_at > now() - interval '30 days')
      ) OR EXISTS (
        SELECT FROM users u WHERE u.id = f.user_id AND u.avatar = a.url
      ) AS used
      FROM files f JOIN looked USING (id), LATERAL (SELECT '/files/' || f.key ||
        CASE f.mime WHEN 'image/png' THEN '.png' ELSE '.jpg' END AS url) a
    ), kept AS (
      UPDATE files SET seen_at = now() FROM judged WHERE judged.id = files.id AND judged.used
    )
    DELETE FROM files USING judged WHERE judged.id = files.id AND NOT judged.used
    RETURNING files.key, files.kind, files.mime`);
  return rows;
};
