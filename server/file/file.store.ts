import { and, count, desc, eq, inArray, sql, sum } from 'drizzle-orm';
import type { Executor } from '../db/database.ts';
import { files } from '../db/schema.ts';

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

/** Marks pictures as used now, by their keys; gives those that there are. */
export const touchImages = async (db: Executor, keys: string[]): Promise<string[]> => {
  const rows = await db
    .update(files)
    .set({ seenAt: sql`now()` })
    .where(and(eq(files.kind, 'image'), inArray(files.key, keys)))
    .returning({ key: files.key });
  return rows.map(({ key }) => key);
};

/** A person's pictures, newest first. */
export const imagePage = (
  db: Executor,
  userId: number,
  { offset, limit }: { offset: number; limit: number },
) =>
  db
    .select({
      uuid: files.id,
      key: files.key,
      mime: files.mime,
      width: files.width,
      height: files.height,
      createdAt: files.createdAt,
    })
    .from(files)
    .where(and(eq(files.userId, userId), eq(files.kind, 'image')))
    .orderBy(desc(files.createdAt), desc(files.id))
    .offset(offset)
    .limit(limit);

export const countImages = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: count() })
    .from(files)
    .where(and(eq(files.userId, userId), eq(files.kind, 'image')));
  return row?.count ?? 0;
};

/** Marks a person's texts as used now; gives those that there are, without their text. */
export const touchTexts = (
  db: Executor,
  ids: string[],
  userId: number,
): Promise<Pick<FileRow, 'id' | 'name' | 'size'>[]> =>
  db
    .update(files)
    .set({ seenAt: sql`now()` })
    .where(and(eq(files.kind, 'text'), eq(files.userId, userId), inArray(files.id, ids)))
    .returning({ id: files.id, name: files.name, size: files.size });

export const findTexts = (
  db: Executor,
  ids: string[],
): Promise<Pick<FileRow, 'id' | 'userId' | 'name' | 'text' | 'cut'>[]> =>
  db
    .select({
      id: files.id,
      userId: files.userId,
      name: files.name,
      text: files.text,
      cut: files.cut,
    })
    .from(files)
    .where(and(eq(files.kind, 'text'), inArray(files.id, ids)));

export const moveFiles = async (db: Executor, fromUserId: number, toUserId: number) => {
  await db.update(files).set({ userId: toUserId }).where(eq(files.userId, fromUserId));
};

/**
 * Takes out of the table, from the files least lately looked at, those a day old to which no
 * message refers whose session is there; gives what the storage still has of them. A file that a
 * message is just taking up is locked by it and left.
 */
export const removeUnused = async (
  db: Executor,
  most: number,
): Promise<Pick<FileRow, 'key' | 'kind' | 'mime'>[]> => {
  const { rows } = await db.execute<{ key: string; kind: FileRow['kind']; mime: string }>(sql`
    WITH looked AS (
      SELECT id FROM files WHERE seen_at < now() - interval '1 day'
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
          ELSE
            h.request @> jsonb_build_object('files', jsonb_build_array(
              jsonb_build_object('uuid', f.id)))
          END)
          AND (s.deleted_at IS NULL OR s.deleted_at > now() - interval '30 days')
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
