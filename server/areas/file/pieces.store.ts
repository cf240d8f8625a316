import { and, asc, eq, gt, gte, isNotNull, isNull, lt, not, or, sql, sum } from 'drizzle-orm';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { ownedBy, type Owners } from '#server/db/person.ts';
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

const isApp = gt(fileUploads.size, limits.pieces.fileBytes);

/**
 * What a person has here: files, the bytes of all of them once they have come, and beside these
 * those of an app's size.
 */
export const countUploads = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({
      files: sql`count(*) FILTER (WHERE NOT (${isApp}))`.mapWith(Number),
      bytes: sql`sum(${fileUploads.size}) FILTER (WHERE NOT (${isApp}))`.mapWith(Number),
      apps: sql`count(*) FILTER (WHERE ${isApp})`.mapWith(Number),
    })
    .from(fileUploads)
    .where(eq(fileUploads.userId, userId));
  return { files: row?.files ?? 0, bytes: row?.bytes ?? 0, apps: row?.apps ?? 0 };
};

/**
 * Bytes of what is on its way of these people: of one person all that was announced and that no call
 * took, as what it became counts; of many what is here, also what a call took and refused. An app is
 * nobody's.
 */
export const comingBytes = async (db: Executor, owners: Owners): Promise<number> => {
  const ofOne = typeof owners === 'object' && 'userId' in owners;
  const untaken = ofOne ? isNull(fileUploads.usedAt) : undefined;
  const [row] = await db
    .select({ bytes: sum(fileUploads[ofOne ? 'size' : 'received']).mapWith(Number) })
    .from(fileUploads)
    .where(and(ownedBy(fileUploads.userId, owners), untaken, not(isApp)));
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

/** Pieces that are read at once. */
const readAtOnce = 8;

/** All bytes of an upload that came whole; from now on it is one that was used. Null: it was cleared away. */
export const useUpload = async (
  db: Executor,
  { id, size }: { id: number; size: number },
): Promise<Buffer | null> => {
  const whole = Buffer.allocUnsafe(size);
  for (let end = 0; end < size;) {
    const pieces = await db
      .select({ at: filePieces.at, data: filePieces.data })
      .from(filePieces)
      .where(and(eq(filePieces.uploadId, id), gte(filePieces.at, end)))
      .orderBy(asc(filePieces.at))
      .limit(readAtOnce);
    if (pieces.length === 0) return null;
    for (const { at, data } of pieces) end = at + data.copy(whole, at);
  }
  await db
    .update(fileUploads)
    .set({ usedAt: sql`now()` })
    .where(eq(fileUploads.id, id));
  return whole;
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
