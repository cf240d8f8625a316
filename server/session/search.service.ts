import type { Session } from '../../contract/session.ts';
import type { Database, Executor } from '../db/database.ts';
import {
  addGrams,
  gramsOf,
  listMark,
  publicMark,
  searchedLetters,
  sessionMark,
  spanMark,
  spanMarks,
  spanSizes,
} from './search-grams.ts';
import * as store from './search.store.ts';

/** The words of a search, which all have to be there; in lower case as far as ASCII goes. */
export const wordsOf = (query: string): string[] => [
  ...new Set(
    query
      .replaceAll('\0', '')
      .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
      .split(/\s+/)
      .filter((word) => word !== '')
      .slice(0, 8),
  ),
];

// ---- filling ----------------------------------------------------------------

const gramsOfMessage = (message: store.Searchable): Set<number> => {
  const grams = new Set<number>(spanMarks(message.id));
  grams.add(sessionMark(message.session_id));
  for (const userId of message.user_ids) grams.add(listMark(userId));
  if (message.public) grams.add(publicMark);
  for (const text of [message.title, message.human, message.ai]) addGrams(grams, text);
  return grams;
};

/**
 * Brings the index up to date with at most so many entries of the queue; gives how many there were,
 * and null while another process is at it.
 */
export const indexQueued = (db: Database, most: number): Promise<number | null> =>
  db.transaction(async (tx) => {
    if (!(await store.lockIndex(tx))) return null;
    const taken = await store.takeQueued(tx, [most]);
    const ids = [...new Set(taken.map((row) => row.history_id))];
    if (ids.length === 0) return 0;
    const messages = await store.readSearchable(tx, [ids, searchedLetters]);
    await store.putGrams(
      tx,
      messages.map((message) => ({
        id: message.id,
        sessionId: message.session_id,
        grams: gramsOfMessage(message),
      })),
    );
    const kept = new Set(messages.map(({ id }) => id));
    const gone = ids.filter((id) => !kept.has(id));
    if (gone.length > 0) await store.removeGrams(tx, [gone]);
    return taken.length;
  });

// ---- looking up ---------------------------------------------------------------

/** So many texts of candidates are read at most before a search gives up. */
const effort = { session: 20_000, sessions: 2_000, own: 2_000, public: 1_000 } as const;
/** At most so many candidates are fetched at once: a whole session has room. */
const fetched = 20_000;
/** Where one message of a session is enough, so many of each are fetched before the others. */
const fetchedOfEach = 5;
/** How many of the newest messages are looked at first; of one's own there are fewer among them. */
const shortestWindow = { public: 2 ** 13, own: 2 ** 17 } as const;
/** How many candidates are checked at once: few first, for they often are enough. */
const firstChecked = 100;
/** Messages that are not in the index yet and are looked at all the same. */
const queueLooked = 300;

const marksOf = (
  scope: store.SearchScope,
  filter: store.MatchFilter,
): { all: number[]; any: number[] | null } => {
  const owner = filter.userId === undefined ? [] : [listMark(filter.userId)];
  if (scope.in === 'session') return { all: [sessionMark(scope.sessionId)], any: null };
  if (scope.in === 'public') return { all: [publicMark, ...owner], any: null };
  if (scope.in === 'own') return { all: [listMark(scope.userId), ...owner], any: null };
  return { all: owner, any: scope.sessionIds.map(sessionMark) };
};

/**
 * Numbers of messages, newest first, in windows of which each is twice as long as the one before;
 * each as 4 to 16 spans, and all the rest at last.
 */
function* windowsBelow(
  newest: number,
  shortest: number,
): Generator<{ marks: number[] | null; before: number }> {
  let before = newest + 1;
  for (let length = shortest; before > 0; length *= 2) {
    const level = spanSizes.filter((size) => size * 4 <= length).length - 1;
    const size = spanSizes[level] ?? 1;
    if (length > size * 16) {
      yield { marks: null, before };
      return;
    }
    const last = Math.floor((before - 1) / size);
    const first = Math.max(0, last - length / size + 1);
    const spans = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    yield { marks: spans.map((span) => spanMark(level, span)), before };
    before = first * size;
  }
}

/** Groups of candidates, the newest first; long lists are looked at window by window. */
async function* candidatesOf(
  db: Executor,
  words: readonly string[],
  scope: store.SearchScope,
  filter: store.MatchFilter,
): AsyncGenerator<store.Candidate[]> {
  const { all, any } = marksOf(scope, filter);
  const grams = [...new Set([...all, ...words.flatMap(gramsOf)])];
  yield await store.findQueued(db, [queueLooked]);

  async function* within(any: number[] | null, before: number) {
    const asked = { grams, any, before, most: fetched };
    if (scope.in === 'session') {
      yield await store.findCandidates(db, { ...asked, after: 0, upTo: fetched });
      return;
    }
    const first = await store.findCandidates(db, { ...asked, after: 0, upTo: fetchedOfEach });
    yield first;
    // Of a session with so many candidates more may follow.
    const count = new Map<number, number>();
    for (const { session_id: id } of first) count.set(id, (count.get(id) ?? 0) + 1);
    if ([...count.values()].some((each) => each === fetchedOfEach))
      yield await store.findCandidates(db, { ...asked, after: fetchedOfEach, upTo: fetched });
  }

  if (scope.in === 'public' || scope.in === 'own') {
    const newest = await store.newestIndexed(db);
    for (const { marks, before } of windowsBelow(newest, shortestWindow[scope.in]))
      yield* within(marks, before);
  } else yield* within(any, Number.MAX_SAFE_INTEGER);
}

/**
 * The shown messages of a scope that hold all the words, the newest found first, at most `most`; of
 * each session one alone where `onePerSession`.
 */
const findMatches = async (
  db: Executor,
  words: readonly string[],
  scope: store.SearchScope,
  filter: store.MatchFilter,
  { most, onePerSession }: { most: number; onePerSession: boolean },
): Promise<store.Match[]> => {
  /** By session, or by message. */
  const found = new Map<number, store.Match>();
  const place = ({ id, session_id }: store.Candidate) => (onePerSession ? session_id : id);
  let size = firstChecked;
  let left: number = effort[scope.in];
  for await (const candidates of candidatesOf(db, words, scope, filter)) {
    let rest = candidates;
    while (rest.length > 0 && left > 0 && found.size < most) {
      rest = rest.filter((each) => !found.has(place(each)));
      const some = rest.slice(0, Math.min(size, left));
      rest = rest.slice(some.length);
      left -= some.length;
      size *= 2;
      const ids = some.map(({ id }) => id);
      for (const match of await store.checkCandidates(db, ids, words, scope, filter)) {
        const key = onePerSession ? match.sessionId : match.historyId;
        if (!found.has(key)) found.set(key, match);
      }
    }
    if (left <= 0 || found.size >= most) break;
  }
  return [...found.values()].sort((a, b) => b.historyId - a.historyId).slice(0, most);
};

const plainText = ({ text, cut_before: before, cut_behind: behind }: store.Excerpt): string => {
  const plain = text
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
  const matches = await findMatches(db, words, scope, filter, asked);
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
  return new Map(rows.map((row) => [row.id, { history_id: row.id, snippet: plainText(row) }]));
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
  const matches = words.length === 0 ? [] : await findMatches(db, words, scope, {}, asked);
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
      created_at: new Date(row.created_at).toISOString(),
    }));
  return {
    list,
    page,
    page_count: Math.ceil(matches.length / pageSize),
    page_size: pageSize,
    total: matches.length,
  };
};
