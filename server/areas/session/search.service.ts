import type { FastifyBaseLogger } from 'fastify';
import type { Session } from '#contract/session.ts';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import { databaseFailure, metOthers, sqlState, tookTooLong } from '#server/db/failure.ts';
import { inTransaction, together } from '#server/db/in-transaction.ts';
import { pageOf } from '#server/paging.ts';
import { entriesOf, merged } from './search-entries.ts';
import { forumMark, goneMark, gramsOf, listMark, publicMark, sessionMark } from './search-grams.ts';
import { idsIn, intersection, narrow, remove, union } from './search-postings.ts';
import * as store from './search.store.ts';

/** The words of a search, which all have to be there; in lower case as far as ASCII goes. */
export const wordsOf = (query: string): string[] => [
  ...new Set(
    query
      .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
      .split(/\s+/)
      .filter((word) => word !== '')
      .slice(0, 8),
  ),
];

// ---- filling ----------------------------------------------------------------

const indexMessages = async (tx: Transaction, ids: readonly number[]): Promise<void> => {
  const messages = await store.readSearchable(tx, [ids]);
  const kept = new Set(messages.map(({ id }) => id));
  const many = messages.length >= merged;
  const gone = ids.filter((id) => !kept.has(id));
  const past = many ? ids : gone;
  if (past.length > 0) await store.removeGrams(tx, [past]);
  for await (const entries of entriesOf(messages))
    await (many ? store.mergeGrams : store.putGrams)(tx, entries);
  const dead = gone.length > 0 ? await store.findDead(tx, [gone]) : [];
  for (let at = 0; at < dead.length; at += merged) {
    const some = dead.slice(at, at + merged).map(({ id }) => id);
    await store.mergeGrams(tx, [some, some.map(() => `{${goneMark}}`)]);
  }
};

type Log = Pick<FastifyBaseLogger, 'warn'>;
const leftOut = 'a message cannot be indexed and is left out of the search';

/** It was what was asked of the database, or how long that took, and neither the database nor others. */
const isAskersFault = (error: unknown): boolean =>
  sqlState(error) === tookTooLong || (databaseFailure(error) === null && !metOthers(error));

/** Does something with messages; one alone that fails is given up, so that no others wait for it. */
const unlessAlone = async (
  tx: Transaction,
  isAlone: boolean,
  act: (tx: Transaction) => Promise<unknown>,
  giveUp: (error: unknown) => Promise<void> | void,
): Promise<void> => {
  try {
    await tx.transaction(act);
  } catch (error) {
    if (!isAlone || !isAskersFault(error)) throw error;
    await giveUp(error);
  }
};

/** Takes entries off the queue; gives how many there were, and whether fresh messages are to be merged. */
const takeSome = async (tx: Transaction, most: number, log?: Log) => {
  const more = await store.queueSessions(tx);
  const taken = await store.takeQueued(tx, [most]);
  const waiting = taken[0]?.waiting ?? 0;
  const done = more || taken.length < waiting ? most : waiting;
  const ids = [...new Set(taken.map((row) => row.history_id))];
  if (ids.length > 0)
    await unlessAlone(
      tx,
      most === 1,
      (inner) => indexMessages(inner, ids),
      (error) => log?.warn({ err: error, message: ids[0] }, leftOut),
    );
  return { done, many: await store.hasManyFresh(tx, merged) };
};

/** Merges fresh messages; gives whether there are still many. */
const mergeSome = async (tx: Transaction, most: number, log?: Log): Promise<boolean> => {
  await unlessAlone(
    tx,
    most === 1,
    (inner) => store.mergeFresh(inner, [most]),
    async (error) => {
      const [dropped] = await store.dropOldestFresh(tx, []);
      log?.warn({ err: error, message: dropped?.id }, leftOut);
    },
  );
  return store.hasManyFresh(tx, merged);
};

/**
 * Brings the index up to date with at most so many entries of the queue; gives how many there were,
 * `most` where more is to be done, and null while another process is at it.
 * @param together so many are done at once at most; what fails with one is left out
 */
export const indexQueued = async (
  db: Database,
  most: number,
  { log, together = Infinity }: { log?: Log; together?: number } = {},
): Promise<number | null> => {
  const locked = <T>(act: (tx: Transaction) => Promise<T>): Promise<T | null> =>
    db.transaction(async (tx) => ((await store.lockIndex(tx)) ? act(tx) : null));
  const taken = await locked((tx) => takeSome(tx, most, log));
  if (!taken?.many) return taken && taken.done;
  // Behind it: what was taken off the queue stays so, should this take too long.
  const more = await locked((tx) => mergeSome(tx, Math.min(merged, together), log));
  return more === true ? most : taken.done;
};

// ---- looking up ---------------------------------------------------------------

/** So many texts of candidates are read at most before a search gives up. */
const effort = {
  session: 20_000,
  sessions: 2_000,
  own: 2_000,
  public: 1_000,
  forum: 1_000,
  all: 2_000,
} as const;
/**
 * So many bytes of texts are compared with short words, and of long ones the fewer: where a text
 * repeats one letter, each place of it is compared with as many letters as the words have.
 */
const mostBytes = 24_000_000;
const wordLetters = 25;
/** So many candidates are looked at at most. */
const mostPlaced = 40_000;
/** How many candidates are placed at once, and the texts of how many are read: few at first, for they often are enough. */
const first = { placed: 400, read: 100 } as const;
/** How many segments are looked at first, of those with messages of the scope. */
const firstSegments = 8;
/** A session with so many candidates among those placed together may have many more. */
const manyOfSession = 20;

const marksOf = (
  scope: store.SearchScope,
  filter: store.MatchFilter,
): { all: number[]; any: number[] | null } => {
  const owner = filter.userId === undefined ? [] : [listMark(filter.userId)];
  if (scope.in === 'session') return { all: [sessionMark(scope.sessionId)], any: null };
  if (scope.in === 'public') return { all: [publicMark, ...owner], any: null };
  if (scope.in === 'forum') return { all: [forumMark, ...owner], any: null };
  if (scope.in === 'own') return { all: [listMark(scope.userId), ...owner], any: null };
  if (scope.in === 'all') return { all: owner, any: null };
  return { all: owner, any: scope.sessionIds.map(sessionMark) };
};

/** Numbers of messages that may hold the words, in groups, the newest first. */
async function* candidatesOf(
  tx: Transaction,
  words: readonly string[],
  scope: store.SearchScope,
  filter: store.MatchFilter,
): AsyncGenerator<number[]> {
  const { all, any } = marksOf(scope, filter);
  const grams = [...new Set(words.flatMap(gramsOf))];
  const numbers = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);
  // What everybody may read lies everywhere: there the words say where to look, else the marks do.
  const wide = (scope.in === 'public' || scope.in === 'forum') && grams.length > 0;
  // Sent at once, looked up one after the other: their order matters, see the store.
  const [queued, fresh, marks, named] = await together([
    store.findQueued(tx, []),
    store.findFresh(tx, [[...all, ...grams], any]),
    store.readPostings(tx, wide ? [] : [...all, ...(any ?? []), goneMark], null),
    wide ? store.segmentsWith(tx, [grams, grams.length]) : Promise.resolve([]),
  ]);
  yield numbers(queued);
  yield numbers(fresh);

  if (wide) {
    const segments = named.map(({ segment }) => segment);
    for (let size = firstSegments; segments.length > 0; size *= 4) {
      const wanted = [...grams, ...all];
      const next = segments.splice(0, size);
      const postings = await store.readPostings(tx, [...wanted, goneMark], next);
      const within = intersection(postings, wanted);
      if (!within) continue;
      remove(within, union(postings.filter(({ gram }) => gram === goneMark)));
      yield idsIn(within);
    }
    return;
  }
  if (all.length === 0 && any === null) {
    // Nothing but the words narrows it.
    const everywhere = intersection(await store.readPostings(tx, grams, null), grams);
    if (everywhere) yield idsIn(everywhere);
    return;
  }
  const some = union(marks.filter(({ gram }) => any?.includes(gram)));
  const places = intersection(marks, all) ?? some;
  if (any && places !== some) narrow(places, some);
  remove(places, union(marks.filter(({ gram }) => gram === goneMark)));
  const segments = [...places.keys()].sort((a, b) => b - a);
  for (let size = firstSegments; segments.length > 0; size *= 4) {
    const next = segments.splice(0, size);
    const within = new Map(next.map((segment) => [segment, places.get(segment)!]));
    const those = intersection(await store.readPostings(tx, grams, next), grams);
    if (those) narrow(within, those);
    yield idsIn(within);
  }
}

/**
 * The shown messages of a scope that hold all the words, the newest found first, at most `most`; of
 * each session one alone where `onePerSession`.
 */
const findMatches = async (
  tx: Transaction,
  words: readonly string[],
  scope: store.SearchScope,
  filter: store.MatchFilter,
  { most, onePerSession }: { most: number; onePerSession: boolean },
): Promise<store.Candidate[]> => {
  /** By session, or by message. */
  const found = new Map<number, store.Candidate>();
  const keyOf = ({ historyId, sessionId }: store.Candidate) =>
    onePerSession ? sessionId : historyId;
  const left = {
    placed: mostPlaced,
    read: effort[scope.in] as number,
    bytes: mostBytes / Math.max(1, words.join('').length / wordLetters),
  };
  const size = { ...first } as { placed: number; read: number };
  const isEnough = () => found.size >= most || Math.min(left.read, left.placed, left.bytes) <= 0;

  const look = async (candidates: readonly store.Candidate[]): Promise<void> => {
    let rest = candidates;
    while (rest.length > 0 && !isEnough()) {
      rest = rest.filter((each) => !found.has(keyOf(each)));
      const some = rest.slice(0, Math.min(size.read, left.read));
      rest = rest.slice(some.length);
      left.read -= some.length;
      size.read *= 2;
      const ids = some.map(({ historyId }) => historyId);
      const read = await store.findHolding(tx, [ids, words, left.bytes]);
      for (const { bytes } of read) left.bytes -= bytes;
      const holding = new Set(read.flatMap(({ id, holds }) => (holds ? [id] : [])));
      for (const each of some)
        if (holding.has(each.historyId) && !found.has(keyOf(each))) found.set(keyOf(each), each);
    }
  };

  /** Candidates of sessions that were found: they need not be looked at. */
  const past = new Set<number>();
  const passSessions = async (placed: readonly store.Candidate[]): Promise<void> => {
    const counts = new Map<number, number>();
    for (const { sessionId: id } of placed) counts.set(id, (counts.get(id) ?? 0) + 1);
    const many = [...counts].filter(([id, count]) => count >= manyOfSession && found.has(id));
    const marks = many.map(([id]) => sessionMark(id));
    for (const id of idsIn(union(await store.readPostings(tx, marks, null)))) past.add(id);
  };

  for await (const ids of candidatesOf(tx, words, scope, filter)) {
    let rest = ids;
    while (rest.length > 0 && !isEnough()) {
      rest = rest.filter((id) => !past.has(id));
      const some = rest.slice(0, size.placed);
      rest = rest.slice(some.length);
      left.placed -= some.length;
      size.placed = Math.ceil(size.placed * 1.5);
      const placed = await store.placeCandidates(tx, some, scope, filter);
      // The newest of each session, which often is enough, before the others.
      const newest = new Map<number, store.Candidate>();
      for (const each of placed) if (!newest.has(keyOf(each))) newest.set(keyOf(each), each);
      await look([...newest.values()]);
      await look(placed.filter((each) => newest.get(keyOf(each)) !== each));
      if (onePerSession && rest.length > 0) await passSessions(placed);
    }
    if (isEnough()) break;
  }
  return [...found.values()].sort((a, b) => b.historyId - a.historyId).slice(0, most);
};

const plainText = ({ text, cut_before: before, cut_behind: behind }: store.Excerpt): string => {
  const plain = text
    // A mark behind a backslash is a letter.
    .replace(/\\(?=[!-/:-@[-`{-~])/g, '')
    // Of links and images their words; of one that the excerpt cuts through what is left.
    .replace(/!?\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*\)?/g, '$1')
    .replace(/[*`|]+|~{2,}|^[#>\s-]+/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return `${before ? '…' : ''}${plain}${behind ? '…' : ''}`;
};

/** How many sessions, and how many messages of one, a search finds at most. */
const most = { sessions: 60, messages: 200 } as const;

export interface FoundSession {
  id: number;
  /** When it changed last, ms. */
  at: number;
  /** The newest of its messages with the words. */
  historyId: number;
}

/** The sessions of a scope with messages that hold all the words. */
export const findSessions = async (
  db: Executor,
  words: readonly string[],
  scope: store.SearchScope,
  filter: store.MatchFilter,
): Promise<FoundSession[]> => {
  const asked = { most: most.sessions, onePerSession: true };
  const matches = await inTransaction(db, (tx) => findMatches(tx, words, scope, filter, asked));
  return matches.map(({ sessionId: id, historyId, at }) => ({ id, historyId, at }));
};

/** For each message what stands around the first word, as `match` of a session. */
export const snippetsOf = async (
  db: Executor,
  historyIds: readonly number[],
  words: readonly string[],
): Promise<Map<number, NonNullable<Session['match']>>> => {
  if (historyIds.length === 0) return new Map();
  const rows = await store.readExcerpts(db, [historyIds, words[0] ?? '']);
  return new Map(
    rows.map((row) => [row.id, { history_id: row.id, part: row.part, snippet: plainText(row) }]),
  );
};

/** A page of a session's messages with all the words, newest first. */
export const searchSession = async (
  db: Executor,
  sessionId: number,
  words: readonly string[],
  { page, pageSize }: { page: number; pageSize: number },
) => {
  const scope = { in: 'session', sessionId } as const;
  const asked = { most: most.messages, onePerSession: false };
  const matches =
    words.length === 0
      ? []
      : await inTransaction(db, (tx) => findMatches(tx, words, scope, {}, asked));
  const ids = matches
    .slice((page - 1) * pageSize, page * pageSize)
    .map(({ historyId }) => historyId);
  const rows = ids.length === 0 ? [] : await store.readExcerpts(db, [ids, words[0] ?? '']);
  const list = rows
    .sort((a, b) => b.id - a.id)
    .map((row) => ({
      history_id: row.id,
      part: row.part,
      snippet: plainText(row),
      created_at: row.created_at.toISOString(),
    }));
  return { list, ...pageOf(matches.length, page, pageSize) };
};
