import type { Executor } from '#server/db/database.ts';
import { summaryOf } from '#common/markdown/digest.ts';
import { findSessions } from '../session/search.service.ts';
import * as store from './forum-list.store.ts';

/** Most images that a question's card shows. */
const mostImages = 5;

// What is between brackets holds none: however many are opened, each letter is read once.
const ownImage = /!\[[^[\]\n]*\]\(<?(\/files\/[0-9a-f]{40}\.(?:png|jpg))/g;
const anyImage = /!\[[^[\]\n]*\]\([^()\n]*\)/g;

/** Addresses of own images that a Markdown text shows, each once. */
export const imagesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(ownImage)].map(([, url]) => url ?? '')),
];

/** A question's words alone: what its images are called says nothing in a line of words. */
export const withoutImages = (text: string): string => text.replaceAll(anyImage, ' ');

export interface ListedQuestions {
  ids: number[];
  total: number;
  /** Of a search: the newest message of each session with the words. */
  found: ReadonlyMap<number, number> | null;
}

/**
 * A page of the forum, or of what is found in it by words.
 * @param me whose questions, answers and visits are meant; 0: a visitor's
 */
export const listForum = async (
  db: Executor,
  words: readonly string[],
  filter: store.ForumFilter,
  me: number,
  { offset, limit }: { offset: number; limit: number },
): Promise<ListedQuestions> => {
  if (words.length === 0)
    return { ...(await store.listQuestions(db, filter, me, { offset, limit })), found: null };
  const owner = filter.userId === undefined ? {} : { userId: filter.userId };
  const found = await findSessions(db, words, { in: 'forum' }, owner);
  const fitting = await store.fittingQuestions(
    db,
    found.map(({ id }) => id),
    filter,
    me,
  );
  const kept = found.filter(({ id }) => fitting.has(id)).sort((a, b) => b.at - a.at || b.id - a.id);
  const shown = kept.slice(offset, offset + limit);
  return {
    ids: shown.map(({ id }) => id),
    total: kept.length,
    found: new Map(shown.map(({ id, historyId }) => [id, historyId])),
  };
};

export interface QuestionLook {
  title: string;
  /** Plain text. */
  content: string;
  images: string[];
  /** What was said last is not shown. */
  lastSuspended: boolean;
}

/** What the cards of questions show of them. */
export const questionLooks = async (
  db: Executor,
  ids: readonly number[],
): Promise<Map<number, QuestionLook>> => {
  if (ids.length === 0) return new Map();
  const rows = await store.readQuestions(db, [ids]);
  return new Map(
    rows.map(({ id, title, human, images, last_suspended: lastSuspended }) => [
      id,
      {
        title,
        content: summaryOf(withoutImages(human)),
        images: [...new Set([...(images ?? []), ...imagesIn(human)])].slice(0, mostImages),
        lastSuspended: lastSuspended === true,
      },
    ]),
  );
};
