import { eq, inArray } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { apiKeyLimits, type Bound } from './developer.tables.ts';
import { roomsOf } from './key-meter.store.ts';

/** The bounds of these keys beside their month's tokens, with what is left of each. */
export const boundsOf = async (
  db: Executor,
  keyIds: readonly number[],
): Promise<Map<number, (Bound & { room: number })[]>> => {
  const found = new Map<number, (Bound & { room: number })[]>();
  if (keyIds.length === 0) return found;
  const rows = await db
    .select()
    .from(apiKeyLimits)
    .where(inArray(apiKeyLimits.keyId, [...keyIds]));
  for (const keyId of new Set(rows.map((row) => row.keyId))) {
    const rooms = await roomsOf(db, keyId);
    found.set(
      keyId,
      rows
        .filter((row) => row.keyId === keyId)
        .map(({ per, unit, most }) => {
          const { room } = rooms.find(
            (each) => each.per === per && each.unit === unit && each.most === most,
          ) ?? { room: most };
          return { per, unit, most, room: Math.max(0, room) };
        }),
    );
  }
  return found;
};

export const replaceBounds = async (
  tx: Transaction,
  keyId: number,
  bounds: readonly Bound[],
): Promise<void> => {
  await tx.delete(apiKeyLimits).where(eq(apiKeyLimits.keyId, keyId));
  if (bounds.length > 0)
    await tx.insert(apiKeyLimits).values(bounds.map((bound) => ({ keyId, ...bound })));
};
