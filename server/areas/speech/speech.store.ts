import { and, eq, sql } from 'drizzle-orm';
import { about } from '#server/db/held.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { speeches } from './speech.tables.ts';

/** What a reading is known by. */
export type SpeechPlace = Pick<
  typeof speeches.$inferInsert,
  'historyId' | 'model' | 'voice' | 'speed' | 'words'
>;

const isAt = ({ historyId, model, voice, speed, words }: SpeechPlace) =>
  and(
    eq(speeches.historyId, historyId),
    eq(speeches.model, model),
    eq(speeches.voice, voice),
    eq(speeches.speed, speed),
    eq(speeches.words, words),
  );

/** A reading that was made before. */
export const findSpeech = async (db: Executor, place: SpeechPlace) => {
  const [row] = await db
    .select({ key: speeches.key, mime: speeches.mime })
    .from(speeches)
    .where(isAt(place));
  return row ?? null;
};

/** Keeps a reading in the place of one that was there; gives that one's key. */
export const keepSpeech = async (
  tx: Transaction,
  row: typeof speeches.$inferInsert,
): Promise<string | null> => {
  const before = await findSpeech(tx, row);
  const { key, mime, size } = row;
  await tx
    .insert(speeches)
    .values(row)
    .onConflictDoUpdate({
      target: [speeches.historyId, speeches.model, speeches.voice, speeches.speed, speeches.words],
      set: { key, mime, size, createdAt: sql`now()`, own: sql`${speeches.own} OR excluded.own` },
    });
  return before?.key ?? null;
};

/**
 * What is kept of readings in one person's sessions is so much: those that others had made give way
 * first, then the oldest. Gives their files.
 */
export const removeBeyond = async (
  tx: Transaction,
  sessionId: number,
  most: number,
): Promise<{ key: string; mime: string }[]> => {
  const { rows } = await tx.execute<{ key: string; mime: string }>(sql`
    DELETE FROM speeches WHERE id IN (
      SELECT id FROM (
        SELECT p.id, sum(p.size) OVER (ORDER BY p.own DESC, p.created_at DESC, p.id DESC) AS upto
        FROM speeches p JOIN sessions s ON s.id = p.session_id
        WHERE s.user_id = (SELECT user_id FROM sessions WHERE id = ${sessionId})
      ) kept WHERE upto > ${most}
    ) RETURNING key, mime`);
  return rows;
};

/** Readings whose message or session is deleted are no more; gives the files of some. */
export const removeOrphans = async (
  tx: Transaction,
  most: number,
): Promise<{ key: string; mime: string }[]> => {
  const { rows } = await tx.execute<{ key: string; mime: string }>(sql`
    DELETE FROM speeches WHERE id IN (
      SELECT p.id FROM speeches p LEFT JOIN sessions s ON s.id = p.session_id
      WHERE s.deleted_at IS NOT NULL
        OR NOT EXISTS (SELECT FROM history h WHERE h.id = p.history_id)
      LIMIT ${most}) RETURNING key, mime`);
  return rows;
};

/** Readings of a person's sessions, in SQL with `$person`. */
export const ownReadings = `id IN (
  SELECT id FROM speeches WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $person)
  UNION SELECT id FROM speeches WHERE history_id IN (SELECT id FROM history WHERE user_id = $person))`;

export const readingsOf = async (
  db: Executor,
  userId: number,
): Promise<{ key: string; mime: string }[]> => {
  const { rows } = await db.execute<{ key: string; mime: string }>(sql`
    SELECT key, mime FROM speeches WHERE ${about(userId, ownReadings)}`);
  return rows;
};
