import { setImmediate as breathe } from 'node:timers/promises';
import type { Out, Parsed } from '#contract/calls.ts';
import { forumLimits } from '#contract/forum.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { pageOf } from '#server/paging.ts';
import * as store from './blocked-words.store.ts';
import { plain } from './word-finder.ts';

/** @throws Refusal words_blocked */
export const refuseBlocked = async (db: Executor, ...texts: string[]): Promise<void> => {
  const text = texts.map(plain).join('\n');
  if (text.trim() === '') return;
  const word = await store.firstWordIn(db, text);
  if (word !== null)
    throw new Refusal('words_blocked', `内容里有不允许的词“${word}”，请修改后再发`);
};

/** Letters that are looked at before others have their turn; a letter may stand for eighteen. */
const atOnce = 2_000;

/** Which of these texts, however long they are together, have a blocked word. */
export const blockedAmong = async (db: Executor, texts: readonly string[]): Promise<boolean[]> => {
  const plainTexts: string[] = [];
  for (const text of texts) {
    const parts: string[] = [];
    for (let at = 0; at < text.length; at += atOnce) {
      parts.push(plain(text.slice(at, at + atOnce)));
      await breathe();
    }
    plainTexts.push(parts.join(''));
  }
  return store.haveWords(db, plainTexts);
};

export const blockedWordPage = async (
  db: Executor,
  { page, query }: Parsed<'blockedWordList'>,
): Promise<Out<'blockedWordList'>> => {
  const size = forumLimits.wordPage;
  const wanted = plain(query ?? '');
  const { rows, total } = await store.pageOfWords(db, wanted, { page, size });
  return {
    list: rows.map(({ id, word, createdAt }) => ({
      id,
      word,
      created_at: createdAt.toISOString(),
    })),
    ...pageOf(total, page, size),
  };
};

/** Gives those that were not there before. @throws Refusal manage_unsuitable */
export const addBlockedWords = async (
  db: Executor,
  given: readonly string[],
): Promise<string[]> => {
  const words = [...new Set(given.map(plain))].filter((word) => word !== '');
  if (words.length === 0) throw new Refusal('bad_input', 'words：请填写词语');
  if ((await store.countWords(db)) + words.length > forumLimits.words)
    throw new Refusal('manage_unsuitable', `屏蔽词最多 ${forumLimits.words} 个`);
  return store.addWords(db, words);
};

/** @throws Refusal not_found */
export const removeBlockedWord = async (db: Executor, id: number): Promise<string> => {
  const word = await store.removeWord(db, id);
  if (word === null) throw new Refusal('not_found', '没有这个词');
  return word;
};
