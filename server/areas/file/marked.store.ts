import { inArray, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { markedCopies } from './file.tables.ts';
import type { ImageKey } from './image-address.ts';

/** Bytes that all of them take. */
const most = 1024 ** 3;
const atOnce = 200;

/** Before it lies in the storage, so that none lies there unknown. */
export const noteMarked = async (
  db: Executor,
  { key, type }: ImageKey,
  size: number,
): Promise<void> => {
  const values = { key, type, size };
  await db
    .insert(markedCopies)
    .values(values)
    .onConflictDoUpdate({ target: markedCopies.key, set: { ...values, createdAt: sql`now()` } });
};

/** Those of more than a week ago, and of the others the oldest beyond what all may take. */
export const oldMarked = async (tx: Transaction): Promise<ImageKey[]> => {
  const { rows } = await tx.execute<{ key: string; type: ImageKey['type'] }>(sql`
    SELECT key, type FROM (
      SELECT key, type, created_at, sum(size) OVER (ORDER BY created_at DESC, key) AS total
      FROM ${markedCopies}
    ) copies
    WHERE created_at < now() - interval '7 days' OR total > ${most} LIMIT ${atOnce}`);
  return rows.map(({ key, type }) => ({ key, type }));
};

export const forgetMarked = async (tx: Transaction, images: readonly ImageKey[]): Promise<void> => {
  const keys = images.map(({ key }) => key);
  await tx.delete(markedCopies).where(inArray(markedCopies.key, keys));
};
