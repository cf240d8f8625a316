import { and, asc, count, eq, isNotNull, isNull, lt, or, sql, sum } from 'drizzle-orm';
import type { Executor } from '../../db/database.ts';
import { ownedBy, type Owners } from '../../db/person.ts';
import { filePieces, fileUploads } from './file.tables.ts';

const ofPerson = (uuid: string, userId: number) =>
  and(eq(fileUploads.uuid, uuid), eq(fileUploads.userId, userId));

/** How much of a person's upload is here; null: there is none of theirs. */
export const findUpload = async (db: Executor, uuid: string, userId: number) => {
  const [row] = await db
    .select({ id: fileUploads.id, size: fileUploads.size, received: fileUploads.received })
    .from(fileUploads)
    .where(ofPerson(uuid, userId));
  return row ?? null;
};

/** What a person has here: files, and the bytes of all of them once they have come. */
export const countUploads = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({ files: count(), bytes: sum(fileUploads.size).mapWith(Number) })
    .from(fileUploads)
    .where(eq(fileUploads.userId, userId));
  return { files: row?.files ?? 0, bytes: row?.bytes ?? 0 };
};

/**
 * Bytes of what is on its way of these people: of one person all that was announced, of many what is
 * here. What a call took counts as what it became.
 */
export const comingBytes = async (db: Executor, owners: Owners): Promise<number> => {
  const counted = typeof owners === 'object' && 'userId' in owners ? 'size' : 'received';
  const [row] = await db
    .select({ bytes: sum(fileUploads[counted]).mapWith(Number) })
    .from(fileUploads)
    .where(and(ownedBy(fileUploads.userId, owners), isNull(fileUploads.usedAt)));
  return row?.bytes ?? 0;
};

/** Only one upload at a time of these people is begun. */
export const lockBeginning = async (tx: Executor, person: string): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`uploads ${person}`}, 0))`);
};

export const beginUpload = async (
  db: Executor,
  upload: { uuid: string; userId: number; size: number },
): Promise<void> => {
  await db.insert(fileUploads).values(upload).onConflictDoNothing();
};

/** Adds a piece where the file ends so far; one that is here already, or leaves a hole, changes nothing. */
export const addPiece = async (
  tx: Executor,
  { uuid, userId, at, data }: { uuid: string; userId: number; at: number; data: Buffer },
): Promise<void> => {
  const [grown] = await tx
    .update(fileUploads)
    .set({ received: sql`${fileUploads.received} + ${data.length}` })
    .where(
      and(
        ofPerson(uuid, userId),
        eq(fileUploads.received, at),
        sql`${fileUploads.received} + ${data.length} <= ${fileUploads.size}`,
      ),
    )
    .returning({ uploadId: fileUploads.id });
  if (grown) await tx.insert(filePieces).values({ ...grown, at, data });
};

/** All bytes of an upload; from now on it is one that was used. */
export const useUpload = async (db: Executor, id: number): Promise<Buffer> => {
  const pieces = await db
    .select({ data: filePieces.data })
    .from(filePieces)
    .where(eq(filePieces.uploadId, id))
    .orderBy(asc(filePieces.at));
  await db
    .update(fileUploads)
    .set({ usedAt: sql`now()` })
    .where(eq(fileUploads.id, id));
  return Buffer.concat(pieces.map(({ data }) => data));
};

/** Makes room: what a person's calls have taken is kept for those whose answer was lost alone. */
export const dropUsed = async (db: Executor, userId: number): Promise<void> => {
  await db
    .delete(fileUploads)
    .where(and(eq(fileUploads.userId, userId), isNotNull(fileUploads.usedAt)));
};

/** Forgets those that were used a while ago, and those that did not get here in a day. */
export const dropOldUploads = async (db: Executor): Promise<void> => {
  await db
    .delete(fileUploads)
    .where(
      or(
        lt(fileUploads.createdAt, sql`now() - interval '1 day'`),
        lt(fileUploads.usedAt, sql`now() - interval '5 minutes'`),
      ),
    );
};
