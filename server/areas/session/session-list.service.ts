import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import type { Session } from '#contract/session.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import {
  type FoundSession,
  findSessions,
  searchSession,
  snippetsOf,
  wordsOf,
} from './search.service.ts';
import type { SessionServiceDeps } from './session-deps.ts';
import {
  lastMarks,
  listSessions,
  type ListScope,
  type SessionFilter,
} from './session-list.store.ts';
import { viewCards } from './session-view.ts';
import { readableSession } from './session.service.ts';
import { readCards } from './session.store.ts';

type Deps = Pick<SessionServiceDeps, 'models' | 'knowledge' | 'forum'>;

/** How many sessions a list reaches back: all that fit, and with a filter the ones looked through. */
const reach = { plain: 1000, filtered: 5000, own: 10_000 } as const;
/** So many titles a search looks at. Most are the first words of a message, and all of those are. */
const searchedTitles = { public: 300, private: 2000, favorites: 500 } as const;
/** A search finds no more sessions than this by their titles. */
const foundTitles = 60;
/** Of the marked sessions so many are searched, those marked last. */
const searchedMarks = 500;
const ownCategories: readonly string[] = ['mine', 'replied', 'history'];
/** Models of these kinds stand in the list's filter. */
const listedTypes: readonly number[] = [modelTypes.chat, modelTypes.image, modelTypes.video];

interface Listed {
  ids: number[];
  total: number;
  matches?: ReadonlyMap<number, Session['match']>;
}

interface Asked {
  offset: number;
  limit: number;
}

/** What was marked in sessions of somebody's favourites. */
const marksOf = async (
  db: Executor,
  userId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Session['match']>> => {
  const marks = await lastMarks(db, userId, ids);
  const texts = await snippetsOf(
    db,
    marks.map(({ historyId }) => historyId),
    [],
  );
  return new Map(
    marks.map(({ sessionId, historyId }) => [
      sessionId,
      texts.get(historyId) ?? { history_id: historyId, snippet: '' },
    ]),
  );
};

/** A page of a list, the newest first; of marked sessions with what was marked in them. */
const listed = async (
  db: Executor,
  scope: ListScope,
  filter: SessionFilter,
  { offset, limit }: Asked,
): Promise<Listed> => {
  const narrowed = filter.model === undefined ? reach.plain : reach.filtered;
  const window = scope.channel === 'public' ? narrowed : reach.own;
  const { found, total } = await listSessions(db, scope, filter, {
    window,
    offset: Math.min(offset, window),
    limit,
  });
  const ids = found.map(({ id }) => id);
  if (scope.channel !== 'favorites') return { ids, total };
  return { ids, total, matches: await marksOf(db, scope.userId, ids) };
};

/** The sessions of a list with all the words in one message; `at` is what the list is ordered by. */
const searchMessages = async (
  db: Executor,
  words: readonly string[],
  scope: ListScope,
  filter: SessionFilter,
): Promise<FoundSession[]> => {
  if (scope.channel === 'public') return findSessions(db, words, { in: 'public' }, filter);
  if (scope.channel === 'private')
    return findSessions(db, words, { in: 'own', userId: scope.userId }, filter);
  const { found: marked } = await listSessions(db, scope, filter, {
    window: reach.own,
    offset: 0,
    limit: searchedMarks,
  });
  if (marked.length === 0) return [];
  const order = new Map(marked.map(({ id, at }) => [id, at]));
  const place = { in: 'sessions', sessionIds: [...order.keys()] } as const;
  const found = await findSessions(db, words, place, {});
  return found.map((each) => ({ ...each, at: order.get(each.id) ?? each.at }));
};

/** The sessions with all the words in their title or in one message, in the order of their list. */
const search = async (
  db: Executor,
  words: readonly string[],
  scope: ListScope,
  filter: SessionFilter,
  { offset, limit }: Asked,
): Promise<Listed> => {
  const window = searchedTitles[scope.channel];
  const byTitle = { ...filter, titleWords: words };
  const [inTitles, messages] = await Promise.all([
    listSessions(db, scope, byTitle, { window, offset: 0, limit: foundTitles }),
    searchMessages(db, words, scope, filter),
  ]);
  const found = new Map(inTitles.found.map(({ id, at }) => [id, { id, at, historyId: 0 }]));
  for (const { id, at, historyId } of messages) found.set(id, { id, at, historyId });
  const sorted = [...found.values()].sort((a, b) => b.at - a.at || b.id - a.id);
  const shown = sorted.slice(offset, offset + limit);
  const snippets = await snippetsOf(
    db,
    shown.flatMap(({ historyId }) => (historyId > 0 ? [historyId] : [])),
    words,
  );
  return {
    ids: shown.map(({ id }) => id),
    total: sorted.length,
    matches: new Map(shown.map(({ id, historyId }) => [id, snippets.get(historyId) ?? null])),
  };
};

/** A page of the public, of one's own or of marked sessions. */
const pageOfChannel = (
  db: Executor,
  input: Parsed<'sessionList'>,
  scope: ListScope,
  asked: Asked,
): Promise<Listed> => {
  const words = wordsOf(input.query ?? '');
  const filter = {
    userId: input.user_id,
    model: input.model,
    scenarioId: input.scenario_id,
  };
  return words.length > 0
    ? search(db, words, scope, filter, asked)
    : listed(db, scope, filter, asked);
};

/** A page of the forum's questions. @param me 0: a visitor */
const pageOfForum = async (
  { forum }: Deps,
  db: Executor,
  input: Parsed<'sessionList'>,
  me: number,
  asked: Asked,
): Promise<Listed> => {
  // A question has no scenario.
  if (input.scenario_id !== undefined) return { ids: [], total: 0 };
  const words = wordsOf(input.query ?? '');
  const { category, model, group_id: groupId, user_id: userId } = input;
  const filter = { category, groupId, userId, model };
  const { ids, total, found } = await forum.list(db, words, filter, me, asked);
  if (!found) return { ids, total };
  const snippets = await snippetsOf(db, [...found.values()], words);
  const matches = new Map(
    [...found].map(([id, historyId]) => [id, snippets.get(historyId) ?? null]),
  );
  return { ids, total, matches };
};

/**
 * A page of sessions, newest first, or of those with all the words of a query; with the names of
 * the models that the list can be narrowed to. @throws Refusal unauthorized
 */
export const sessionList = async (
  deps: Deps,
  db: Executor,
  input: Parsed<'sessionList'>,
  user: Identity | null,
) => {
  const { channel, page, page_size: pageSize } = input;
  const ofForum = channel === 'forum';
  const own = ofForum ? ownCategories.includes(input.category ?? '') : channel !== 'public';
  if (own && !user) throw new Refusal('unauthorized');
  const me = user?.id ?? 0;
  const asked = windowOf(page, pageSize);
  const { ids, total, matches } = ofForum
    ? await pageOfForum(deps, db, input, me, asked)
    : await pageOfChannel(
        db,
        input,
        channel === 'public' ? { channel } : { channel, userId: me },
        asked,
      );
  const cards = await readCards(db, ids, me);
  const types = ofForum ? [modelTypes.chat] : listedTypes;
  return {
    list: await viewCards(deps, db, cards, user, matches),
    ...pageOf(total, page, pageSize),
    models: (await deps.models.usable(db, user))
      .filter(({ type }) => types.includes(type))
      .map(({ name }) => name),
  };
};

/** Where words stand in one session. @throws Refusal not_found, session_deleted, private_session */
export const searchMessagesOf = async (
  db: Executor,
  input: Parsed<'searchMessages'>,
  user: Identity,
) => {
  const row = await readableSession(db, input.session_id, user);
  const asked = { page: input.page, pageSize: limits.pageSize };
  return searchSession(db, row.id, wordsOf(input.query), asked);
};
