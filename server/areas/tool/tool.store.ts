import { inArray } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { sessions } from '#server/db/schema.ts';

/** Title and address of sessions. */
export const sessionNames = async (
  db: Executor,
  ids: readonly number[],
): Promise<Map<number, { uuid: string; title: string }>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: sessions.id, uuid: sessions.uuid, title: sessions.prompt })
    .from(sessions)
    .where(inArray(sessions.id, [...ids]));
  return new Map(rows.map(({ id, ...row }) => [id, row]));
};
