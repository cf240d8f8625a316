import { and, count, desc, eq, inArray, isNull, ne } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { images } from '../db/schema.ts';

export type ImageRow = typeof images.$inferSelect;

/** Keeps pictures; gives their numbers in their order. */
export const insertImages = async (
  tx: Transaction,
  rows: (typeof images.$inferInsert)[],
): Promise<{ id: number; uuid: string; key: string }[]> =>
  rows.length === 0
    ? []
    : tx
        .insert(images)
        .values(rows)
        .returning({ id: images.id, uuid: images.uuid, key: images.key });

/** A picture that is there. */
export const findImage = async (db: Executor, id: number): Promise<ImageRow | null> => {
  const [row] = await db
    .select()
    .from(images)
    .where(and(eq(images.id, id), isNull(images.deletedAt)));
  return row ?? null;
};

/** Of these keys those of pictures that are there. */
export const knownKeys = async (db: Executor, keys: readonly string[]): Promise<string[]> => {
  const rows = await db
    .select({ key: images.key })
    .from(images)
    .where(and(inArray(images.key, [...keys]), ne(images.key, ''), isNull(images.deletedAt)));
  return rows.map(({ key }) => key);
};

const ofPerson = (userId: number) => and(eq(images.userId, userId), isNull(images.deletedAt));

/** A person's pictures, newest first. */
export const imagePage = (
  db: Executor,
  userId: number,
  { offset, limit }: { offset: number; limit: number },
): Promise<ImageRow[]> =>
  db
    .select()
    .from(images)
    .where(ofPerson(userId))
    .orderBy(desc(images.id))
    .offset(offset)
    .limit(limit);

export const countImages = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db.select({ count: count() }).from(images).where(ofPerson(userId));
  return row?.count ?? 0;
};

/** Gives a guest's pictures to the account that the guest became. */
export const moveImages = async (
  db: Executor,
  fromUserId: number,
  toUserId: number,
): Promise<void> => {
  await db.update(images).set({ userId: toUserId }).where(eq(images.userId, fromUserId));
};
