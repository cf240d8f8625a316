import { desc, eq, sql } from 'drizzle-orm';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Executor } from '#server/db/database.ts';
import { blockedWords } from './moderation.tables.ts';

/** All of them. */
export const allBlockedWords = async (db: Executor): Promise<string[]> =>
  (await db.select({ word: blockedWords.word }).from(blockedWords)).map(({ word }) => word);

/** A word that stands in a text; null: none does. */
export const firstWordIn = async (db: Executor, text: string): Promise<string | null> => {
  const { rows } = await db.execute<{ word: string }>(
    sql`SELECT word FROM blocked_words WHERE strpos(${text}, word) > 0 LIMIT 1`,
  );
  return rows[0]?.word ?? null;
};

/** Which of these texts have a word. */
export const haveWords = async (db: Executor, texts: readonly string[]): Promise<boolean[]> => {
  const { rows } = await db.execute<{ blocked: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM blocked_words WHERE strpos(given.text, word) > 0) AS blocked
    FROM jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb)
      WITH ORDINALITY AS given (text, at) ORDER BY given.at`);
  return rows.map(({ blocked }) => blocked);
};

/** @param wanted what stands in them; empty: all */
export const pageOfWords = async (
  db: Executor,
  wanted: string,
  { page, size }: { page: number; size: number },
) => {
  const where = wanted === '' ? undefined : sql`strpos(${blockedWords.word}, ${wanted}) > 0`;
  const rows = await db
    .select()
    .from(blockedWords)
    .where(where)
    .orderBy(desc(blockedWords.id))
    .offset((page - 1) * size)
    .limit(size);
  const total = await countUpTo(db, blockedWords, where);
  return { rows, total };
};

export const countWords = (db: Executor): Promise<number> => countUpTo(db, blockedWords, undefined);

/** Gives those that were not there before. */
export const addWords = async (db: Executor, words: readonly string[]): Promise<string[]> => {
  const added = await db
    .insert(blockedWords)
    .values(words.map((word) => ({ word })))
    .onConflictDoNothing()
    .returning({ word: blockedWords.word });
  return added.map(({ word }) => word);
};

/** Null: there is no such word. */
export const removeWord = async (db: Executor, id: number): Promise<string | null> => {
  const [gone] = await db.delete(blockedWords).where(eq(blockedWords.id, id)).returning();
  return gone?.word ?? null;
};
