import { and, eq, lt, sql } from 'drizzle-orm';
import type { Executor } from '../../db/database.ts';
import { trainingUploads } from './train.tables.ts';

const ofPerson = (id: string, userId: number) =>
  and(eq(trainingUploads.id, id), eq(trainingUploads.userId, userId));

/** How many bytes of an upload are here; null: there is none of this person's. */
export const receivedOf = async (
  db: Executor,
  id: string,
  userId: number,
): Promise<number | null> => {
  const [row] = await db
    .select({ received: sql<number>`octet_length(${trainingUploads.data})::int` })
    .from(trainingUploads)
    .where(ofPerson(id, userId));
  return row?.received ?? null;
};

export const countUploads = (db: Executor, userId: number): Promise<number> =>
  db.$count(trainingUploads, eq(trainingUploads.userId, userId));

export const beginUpload = async (
  db: Executor,
  upload: { id: string; userId: number; name: string; size: number },
): Promise<void> => {
  await db.insert(trainingUploads).values(upload).onConflictDoNothing();
};

/** Adds a piece where the file ends so far; gives its length then. A piece that is here already changes nothing. */
export const addPiece = async (
  db: Executor,
  { id, userId, offset, data }: { id: string; userId: number; offset: number; data: Buffer },
): Promise<number> => {
  await db
    .update(trainingUploads)
    .set({ data: sql`${trainingUploads.data} || ${data}` })
    .where(
      and(
        ofPerson(id, userId),
        sql`octet_length(${trainingUploads.data}) = ${offset}`,
        sql`octet_length(${trainingUploads.data}) + ${data.length} <= ${trainingUploads.size}`,
      ),
    );
  return (await receivedOf(db, id, userId)) ?? 0;
};

export const takeUpload = async (db: Executor, id: string, userId: number) => {
  const [row] = await db
    .delete(trainingUploads)
    .where(ofPerson(id, userId))
    .returning({ name: trainingUploads.name, data: trainingUploads.data });
  return row ?? null;
};

/** Forgets those that nobody went on with for a day. */
export const dropOldUploads = async (db: Executor): Promise<void> => {
  await db
    .delete(trainingUploads)
    .where(lt(trainingUploads.createdAt, sql`now() - interval '1 day'`));
};
