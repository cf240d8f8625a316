import { setImmediate as breathe } from 'node:timers/promises';
import { addGrams, forumMark, listMark, publicMark, sessionMark } from './search-grams.ts';
import type { Searchable } from './search.store.ts';

/** So many messages go into the postings at once: fresh ones when they are so many. */
export const merged = 500;
/** Grams that are sent together. */
const sentTogether = 100_000;
/** After so many letters or grams others have a turn; a message counts as so many at least. */
const turn = { all: 20_000, message: 1_000 };

type Pace = (done: number) => Promise<void>;
const createPace = (): Pace => {
  let left = turn.all;
  return async (done) => {
    left -= done;
    if (left > 0) return;
    await breathe();
    left = turn.all;
  };
};

/** The grams of a message as a list of PostgreSQL, and how many they are. */
const gramsOfMessage = async (message: Searchable, pace: Pace) => {
  // The marks are first: they tell most of the others apart.
  const grams = new Set<number>([sessionMark(message.session_id)]);
  for (const userId of message.user_ids) grams.add(listMark(userId));
  if (message.public) grams.add(publicMark);
  if (message.public && message.of_people) grams.add(forumMark);
  await pace(turn.message);
  for (const text of [message.title, message.human, message.ai])
    for (let at = 0; at < text.length; at += turn.all) {
      addGrams(grams, text, at, at + turn.all);
      await pace(Math.min(turn.all, text.length - at));
    }
  const all = [...grams];
  const parts: string[] = [];
  for (let at = 0; at < all.length; at += turn.all) {
    const some = all.slice(at, at + turn.all);
    parts.push(some.join(','));
    await pace(some.length);
  }
  return { list: `{${parts.join(',')}}`, count: all.length };
};

/** Numbers of messages and the grams of each, as many as are sent together. */
export async function* entriesOf(
  messages: readonly Searchable[],
): AsyncGenerator<[ids: number[], lists: string[]]> {
  const pace = createPace();
  let ids: number[] = [];
  let lists: string[] = [];
  let grams = 0;
  for (const message of messages) {
    const { list, count } = await gramsOfMessage(message, pace);
    ids.push(message.id);
    lists.push(list);
    grams += count;
    if (ids.length < merged && grams < sentTogether) continue;
    yield [ids, lists];
    [ids, lists, grams] = [[], [], 0];
  }
  if (ids.length > 0) yield [ids, lists];
}
