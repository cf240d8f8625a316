import type { Executor } from '#server/db/database.ts';
import { searchedLetters } from '#server/search/letters.ts';
import { withoutShell } from '#server/search/shells.ts';
import { squeeze } from '#server/search/terms.ts';
import * as store from './embedding.store.ts';

/** Letters of a question that are kept. */
const longest = 200;

/** Equal for questions that differ in their signs, spaces and phrases of asking alone. */
const markOf = (question: string): string =>
  squeeze(withoutShell(searchedLetters(question))).slice(0, longest);

/** Counts what a base was asked and has nothing on. */
export const note = async (db: Executor, projectId: number, asked: string): Promise<void> => {
  const question = asked.trim().slice(0, longest);
  const mark = markOf(question);
  if (mark !== '') await store.noteGap(db, projectId, { mark, question });
};

export const list = async (db: Executor, projectId: number) =>
  (await store.gapsOf(db, projectId)).map(({ lastAt, ...gap }) => ({
    ...gap,
    last_at: lastAt.toISOString(),
  }));

export const remove = (db: Executor, projectId: number, id: number): Promise<void> =>
  store.deleteGaps(db, projectId, { id });

/** The base has an answer to it now. */
export const close = (db: Executor, projectId: number, question: string): Promise<void> =>
  store.deleteGaps(db, projectId, { mark: markOf(question) });
