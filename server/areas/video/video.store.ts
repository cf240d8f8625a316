import { eq, inArray, sql, type SQL } from 'drizzle-orm';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { videos } from './video.tables.ts';

export type VideoRow = typeof videos.$inferSelect;

export const insertVideo = async (
  tx: Transaction,
  row: typeof videos.$inferInsert,
): Promise<{ id: number; uuid: string }> => {
  const [made] = await tx
    .insert(videos)
    .values(row)
    .returning({ id: videos.id, uuid: videos.uuid });
  if (!made) throw new Error('the film was not stored');
  return made;
};

/** Of these keys those that films have. */
export const knownKeys = async (db: Executor, keys: readonly string[]): Promise<string[]> => {
  const rows = await db
    .select({ key: videos.key })
    .from(videos)
    .where(inArray(videos.key, [...keys]));
  return rows.map(({ key }) => key);
};

/** Its message is there and shown, its session is not deleted, and its owner may be seen. */
const standing = sql`JOIN sessions s ON s.id = v.session_id AND s.deleted_at IS NULL
  JOIN history h ON h.id = v.history_id AND h.shown`;

/** A film whose message and session are there. */
export const findByKey = async (
  db: Executor,
  key: string,
): Promise<{ mime: VideoRow['mime'] } | null> => {
  const { rows } = await db.execute<{ mime: VideoRow['mime'] }>(
    sql`SELECT v.mime FROM videos v ${standing} WHERE v.key = ${key}`,
  );
  return rows[0] ?? null;
};

/** Whose films are listed: one person's, or those of public sessions. */
export type Shelf = { userId: number } | 'public';

const on = (shelf: Shelf): SQL =>
  shelf === 'public'
    ? // What was made within a conversation is shown to whoever had it made.
      sql`s.type = ${sessionTypes.video} AND NOT s.private AND NOT u.session_private AND NOT u.disabled`
    : sql`v.user_id = ${shelf.userId}`;

export interface ListedRow extends Record<string, unknown> {
  id: number;
  uuid: string;
  key: string;
  mime: VideoRow['mime'];
  width: number;
  height: number;
  duration: number;
  prompt: string;
  model: string;
  user_id: number;
  user_name: string;
  session_uuid: string;
  history_id: number;
  created_at: Date;
}

/** Films, newest first. */
export const videoPage = async (
  db: Executor,
  shelf: Shelf,
  { offset, limit }: { offset: number; limit: number },
): Promise<ListedRow[]> => {
  const { rows } = await db.execute<ListedRow>(sql`
    SELECT v.id::float8 AS id, v.uuid, v.key, v.mime, v.width, v.height, v.duration, v.prompt,
      v.model, v.user_id::float8 AS user_id, u.user_name, s.uuid AS session_uuid,
      v.history_id::float8 AS history_id, v.created_at
    FROM videos v ${standing} JOIN users u ON u.id = v.user_id
    WHERE ${on(shelf)} ORDER BY v.id DESC OFFSET ${offset} LIMIT ${limit}`);
  return rows;
};

/** How many there are, counting no further than `most`. */
export const countVideos = async (db: Executor, shelf: Shelf, most: number): Promise<number> => {
  const { rows } = await db.execute<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT FROM videos v ${standing} JOIN users u ON u.id = v.user_id
      WHERE ${on(shelf)} LIMIT ${most}) counted`);
  return rows[0]?.count ?? 0;
};

/** How many films of free models somebody made in the last day. */
export const countToday = async (db: Executor, userId: number): Promise<number> => {
  const { rows } = await db.execute<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM videos
    WHERE user_id = ${userId} AND created_at > now() - interval '1 day'`);
  return rows[0]?.count ?? 0;
};

/** Gives a guest's films to the account that the guest became. */
export const moveVideos = async (
  db: Executor,
  fromUserId: number,
  toUserId: number,
): Promise<void> => {
  await db.update(videos).set({ userId: toUserId }).where(eq(videos.userId, fromUserId));
};

/** Films whose message or session is deleted are no more; gives the keys of some. */
export const removeOrphans = async (tx: Transaction, most: number): Promise<string[]> => {
  const { rows } = await tx.execute<{ key: string }>(sql`
    DELETE FROM videos WHERE id IN (
      SELECT v.id FROM videos v LEFT JOIN sessions s ON s.id = v.session_id
      WHERE s.deleted_at IS NOT NULL
        OR NOT EXISTS (SELECT FROM history h WHERE h.id = v.history_id)
      LIMIT ${most}) RETURNING key`);
  return rows.map(({ key }) => key);
};

export const filmKeysOf = async (db: Executor, userId: number): Promise<string[]> => {
  const rows = await db.select({ key: videos.key }).from(videos).where(eq(videos.userId, userId));
  return rows.map(({ key }) => key);
};

/** The film that a job made; null: it is gone. */
export const filmOfJob = async (db: Executor, jobId: number): Promise<VideoRow | null> => {
  const [row] = await db.select().from(videos).where(eq(videos.jobId, jobId));
  return row ?? null;
};
