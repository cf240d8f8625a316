import { desc, eq, sql } from 'drizzle-orm';
import type { Out, Parsed } from '#contract/calls.ts';
import { forumLimits } from '#contract/forum.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { blockedWords } from './moderation.tables.ts';
import { plain } from './word-finder.ts';

/** All of them. */
export const allBlockedWords = async (db: Executor): Promise<string[]> =>
  (await db.select({ word: blockedWords.word }).from(blockedWords)).map(({ word }) => word);

/** @throws Refusal words_blocked */
export const refuseBlocked = async (db: Executor, ...texts: string[]): Promise<void> => {
  const text = texts.map(plain).join('\n');
  if (text.trim() === '') return;
  const { rows } = await db.execute<{ word: string }>(
    sql`SELECT word FROM blocked_words WHERE strpos(${text}, word) > 0 LIMIT 1`,
  );
  if (rows[0])
    throw new Refusal('words_blocked', `内容里有不允许的词“${rows[0].word}”，请修改后再发`);
};

/** Which of these texts have a blocked word. */
export const blockedAmong = async (db: Executor, texts: readonly string[]): Promise<boolean[]> => {
  const { rows } = await db.execute<{ blocked: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM blocked_words WHERE strpos(given.text, word) > 0) AS blocked
    FROM jsonb_array_elements_text(${JSON.stringify(texts.map(plain))}::jsonb)
      WITH ORDINALITY AS given (text, at) ORDER BY given.at`);
  return rows.map(({ blocked }) => blocked);
};

export const blockedWordPage = async (
  db: Executor,
  { page, query }: Parsed<'blockedWordList'>,
): Promise<Out<'blockedWordList'>> => {
  const size = forumLimits.wordPage;
  const wanted = plain(query ?? '');
  const where = wanted === '' ? undefined : sql`strpos(${blockedWords.word}, ${wanted}) > 0`;
  const rows = await db
    .select()
    .from(blockedWords)
    .where(where)
    .orderBy(desc(blockedWords.id))
    .offset((page - 1) * size)
    .limit(size);
  const total = await countUpTo(db, blockedWords, where);
  return {
    list: rows.map(({ id, word, createdAt }) => ({
      id,
      word,
      created_at: createdAt.toISOString(),
    })),
    page,
    page_count: Math.ceil(total / size),
    page_size: size,
    total,
  };
};

/** Gives those that were not there before. @throws Refusal manage_unsuitable */
export const addBlockedWords = async (
  db: Executor,
  given: readonly string[],
): Promise<string[]> => {
  const words = [...new Set(given.map(plain))].filter((word) => word !== '');
  if (words.length === 0) throw new Refusal('bad_input', 'words：请填写词语');
  if ((await countUpTo(db, blockedWords, undefined)) + words.length > forumLimits.words)
    throw new Refusal('manage_unsuitable', `屏蔽词最多 ${forumLimits.words} 个`);
  const added = await db
    .insert(blockedWords)
    .values(words.map((word) => ({ word })))
    .onConflictDoNothing()
    .returning({ word: blockedWords.word });
  return added.map(({ word }) => word);
};

/** @throws Refusal not_found */
export const removeBlockedWord = async (db: Executor, id: number): Promise<string> => {
  const [gone] = await db.delete(blockedWords).where(eq(blockedWords.id, id)).returning();
  if (!gone) throw new Refusal('not_found', '没有这个词');
  return gone.word;
};
