import { isBroken, isFull, makingRoom } from '#common/outbox/storage-full.ts';
import type { In, Out, PlainCallName } from '#contract/calls.ts';
import type { Message } from '#contract/chat.ts';
import type { Session, SessionDetail } from '#contract/session.ts';
import { cacheNames } from '#sw/messages.ts';
import Dexie, { type Table } from 'dexie';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { keptUnread } from './device-full.ts';
import { databaseName } from './cache-name.ts';
import { readQuestion } from './question.ts';
import { filesIn, purgeFiles } from './purge-files.ts';
import { toast } from '#src/platform/toast.ts';

interface KeptSession {
  uuid: string;
  id: number;
  updated_at: string;
  session: Session;
  /** All of it, where the session was opened. */
  detail: SessionDetail | null;
  /** When it was opened last, ms; 0: never. */
  opened: number;
  /** What its messages take, about. */
  bytes: number;
}
interface KeptMessage {
  id: number;
  /** Of its session. */
  uuid: string;
  message: Message;
  bytes: number;
}
/** The answer of a call that is kept as it is. */
interface KeptAnswer {
  /** The call and what it was asked. */
  call: string;
  data: unknown;
  /** When it was heard, ms; of those from before this was noted nothing. */
  at?: number;
}

/** How much is kept. Of sessions the messages go first of those that were opened longest ago. */
const most = { sessions: 2_000, bytes: 40 * 1024 * 1024, answers: 300 } as const;
/** So much of it is left once something had to go. */
const rest = 0.9;

const makeDatabase = () => {
  const db = new Dexie(databaseName) as Dexie & {
    sessions: Table<KeptSession, string>;
    messages: Table<KeptMessage, number>;
    answers: Table<KeptAnswer, string>;
    facts: Table<{ name: string; value: string }, string>;
  };
  db.version(3).stores({
    sessions: 'uuid, id, updated_at, opened',
    messages: 'id, uuid',
    answers: 'call, at',
    facts: 'name',
  });
  return db;
};
const db = makeDatabase();

const me = () => accountOf(authStore.get().token);

/** Everything kept belongs to the account that is here now. */
const claim = async () => {
  const account = me();
  const owner = await db.facts.get('account');
  if (owner?.value === account) return;
  await clear();
  await db.facts.put({ name: 'account', value: account });
};

export const clear = async (): Promise<void> => {
  await Promise.all([db.sessions, db.messages, db.answers, db.facts].map((each) => each.clear()));
};

const putSessions = async (sessions: readonly Session[], detail: SessionDetail | null = null) => {
  const known = await db.sessions.bulkGet(sessions.map((session) => session.uuid));
  await db.sessions.bulkPut(
    sessions.map((session, at) => ({
      uuid: session.uuid,
      id: session.id,
      updated_at: session.updated_at,
      session: { ...session, match: null },
      detail: detail ?? known[at]?.detail ?? null,
      opened: detail ? Date.now() : (known[at]?.opened ?? 0),
      bytes: known[at]?.bytes ?? 0,
    })),
  );
};

const uuidOf = async (ref: unknown): Promise<string> => {
  const text = String(ref).toLowerCase();
  if (text.includes('-')) return text;
  return (await db.sessions.where('id').equals(Number(text)).first())?.uuid ?? '';
};

const lengthOf = ({ ai, reasoning }: Pick<Message, 'ai' | 'reasoning'>): number =>
  ai.length + reasoning.length;

/** Of a reply that is being written the server tells no words: those that were read stay. */
const withWordsOf = (known: Message | undefined, fresh: Message): Message => {
  const unwritten = <T extends Pick<Message, 'ai' | 'reasoning' | 'state'>>(
    old: T,
    next: T,
  ): boolean =>
    old.state === 'streaming' && next.state === 'streaming' && lengthOf(old) > lengthOf(next);
  let next = fresh;
  if (known && unwritten(known, fresh))
    next = { ...next, ai: known.ai, reasoning: known.reasoning };
  const [mine, theirs] = [known?.beside, fresh.beside];
  if (mine && theirs && mine.id === theirs.id && unwritten(mine as Message, theirs as Message))
    next = { ...next, beside: { ...theirs, ai: mine.ai, reasoning: mine.reasoning } };
  return next;
};

const callOf = (name: PlainCallName, input: unknown): string => `${name}${JSON.stringify(input)}`;
/** As what it is kept that a session has no messages: where there are none, they may only be gone from here. */
const emptyOf = (uuid: string): string => callOf('historyList', { session_id: uuid });

const putMessages = async (ref: unknown, messages: readonly Message[]) => {
  const uuid = await uuidOf(ref);
  if (!uuid || messages.length === 0) return;
  await db.answers.delete(emptyOf(uuid));
  const before = await db.messages.bulkGet(messages.map(({ id }) => id));
  const kept = messages.map((fresh, at) => {
    const message = withWordsOf(before[at]?.message, fresh);
    const { human, ai, reasoning, beside } = message;
    const characters = human.length + ai.length + reasoning.length + (beside?.ai.length ?? 0);
    return { id: message.id, uuid, message, bytes: 800 + 2 * characters };
  });
  await db.messages.bulkPut(kept);
  const sum = (all: readonly (KeptMessage | undefined)[]) =>
    all.reduce((total, each) => total + (each?.bytes ?? 0), 0);
  const more = sum(kept) - sum(before);
  await db.sessions
    .where('uuid')
    .equals(uuid)
    .modify((session) => {
      session.bytes += more;
    });
};

const dropSession = async (ref: unknown) => {
  const uuid = await uuidOf(ref);
  const messages = await db.messages.where('uuid').equals(uuid).toArray();
  await purgeFiles(filesIn([messages, await db.sessions.get(uuid)]));
  await Promise.all([db.sessions.delete(uuid), db.messages.where('uuid').equals(uuid).delete()]);
};

/** Of a session that is not kept itself, such as a temporary one, nothing is. */
const putHistory = async (input: In<'historyList'>, data: Out<'historyList'>) => {
  await putMessages(input.session_id, data.list);
  const { id, before, after } = input;
  const isAll = id === undefined && before === undefined && after === undefined;
  if (!isAll || data.total !== 0) return;
  const uuid = await uuidOf(input.session_id);
  if (await db.sessions.get(uuid))
    await db.answers.put({ call: emptyOf(uuid), data, at: Date.now() });
};

/** The forum's lists have their own orders and categories: they are kept as they are. */
const isForum = (input: unknown): boolean => (input as In<'sessionList'>).channel === 'forum';

const keepOne = async (name: PlainCallName, input: unknown, data: unknown) => {
  if (name === 'sessionList' && !isForum(input))
    await putSessions((data as Out<'sessionList'>).list);
  else if (name === 'getSession') {
    const detail = data as SessionDetail;
    if (!detail.temporary) await putSessions([detail], detail);
  } else if (name === 'historyList')
    await putHistory(input as In<'historyList'>, data as Out<'historyList'>);
  else if (name === 'lastMessages')
    await putMessages((input as In<'lastMessages'>).sessionId, data as Message[]);
  else if (name === 'deleteSession') await dropSession((input as In<'deleteSession'>).session_id);
  else if (name === 'deleteAllSession') {
    const messages = await db.messages.toArray();
    await purgeFiles(filesIn([messages, await db.sessions.toArray()]));
    await Promise.all([db.messages.clear(), db.sessions.clear()]);
  } else if (name === 'deleteImage') {
    const { image_id: id } = input as In<'deleteImage'>;
    const about = [0, 1].map((explore) => callOf('imageInfo', { image_id: id, explore }));
    await db.answers.bulkDelete(about);
  } else if (name === 'deleteHistory') {
    const { id, session_id: ref } = input as In<'deleteHistory'>;
    if ((data as Out<'deleteHistory'>).is_session) await dropSession(ref);
    else {
      await purgeFiles(filesIn([await db.messages.get(Number(id))]));
      await db.messages.delete(Number(id));
    }
  } else await db.answers.put({ call: callOf(name, input), data, at: Date.now() });
};

/** Drops the messages of sessions, those opened longest ago first and the last never, until so much is left. */
const dropTo = async (bytes: number) => {
  const sizes: { uuid: string; bytes: number }[] = [];
  await db.sessions.orderBy('opened').each((each) => {
    sizes.push({ uuid: each.uuid, bytes: each.bytes });
  });
  let left = sizes.reduce((total, each) => total + each.bytes, 0);
  if (left <= bytes) return;
  for (const { uuid, bytes: own } of sizes.slice(0, -1)) {
    if (left <= bytes * rest) return;
    if (own === 0) continue;
    await db.messages.where('uuid').equals(uuid).delete();
    await db.sessions.update(uuid, { bytes: 0, detail: null });
    left -= own;
  }
};

const trim = async () => {
  const sessions = (await db.sessions.count()) - most.sessions;
  if (sessions > 0) {
    const oldest = await db.sessions.orderBy('updated_at').limit(sessions).primaryKeys();
    await db.sessions.bulkDelete(oldest);
    await db.messages.where('uuid').anyOf(oldest).delete();
  }
  const answers = (await db.answers.count()) - most.answers;
  if (answers > 0) {
    const newest = await db.answers.orderBy('at').reverse().limit(most.answers).primaryKeys();
    await db.answers.where('call').noneOf(newest).delete();
  }
  await dropTo(most.bytes);
};

/** Once: a disk that others filled gets no emptier by it. */
let halved = false;
/** What makes room for what was written, in this order: what is fetched again when it is needed, half of what was only read. */
export const giveWay: readonly (() => Promise<unknown>)[] = [
  async () => {
    const { images, thumbnails, former, libraries, reserve } = cacheNames;
    for (const name of [images, thumbnails, former, libraries, reserve]) {
      // One by one: a disk without a free byte refuses to let go of a cache as a whole.
      const cache = await caches.open(name);
      for (const request of await cache.keys()) await cache.delete(request);
    }
  },
  async () => {
    if (halved) return;
    halved = true;
    await db.transaction('rw', db.sessions, db.messages, async () => {
      let all = 0;
      await db.sessions.each(({ bytes }) => {
        all += bytes;
      });
      await dropTo(all / 2);
    });
  },
];

let told = false;
const tellFull = () => {
  if (told) return;
  told = true;
  toast('手机存储已满，新看的内容没网时会看不到', 'error');
};

const isSession = ([name]: Heard): boolean => name === 'getSession';

const put = (heard: readonly Heard[]) =>
  db.transaction('rw', db.sessions, db.messages, db.answers, db.facts, async () => {
    // Somebody left meanwhile: nothing is written behind them.
    const account = me();
    if ((await db.facts.get('account'))?.value !== account) return;
    // What a visitor read is anybody's.
    const own = heard.filter(([, , , asker]) => asker === '' || asker === account);
    // Whether a session is kept is known before what was read in it.
    const [sessions, others] = [own.filter(isSession), own.filter((each) => !isSession(each))];
    for (const [name, input, data] of [...sessions, ...others]) await keepOne(name, input, data);
    await trim();
  });

type Heard = readonly [name: PlainCallName, input: unknown, data: unknown, asker: string];

/** Writes down what calls answered. Where there is no room, the person is told once. */
export const keep = async (heard: readonly Heard[]): Promise<void> => {
  try {
    await makingRoom(async () => {
      await claim();
      await put(heard);
    }, giveWay);
  } catch (error) {
    if (!isFull(error)) throw error;
    tellFull();
  }
};

/** Text around the first place of the word. */
const snippet = (text: string, word: string): string => {
  const at = text.toLowerCase().indexOf(word);
  if (at < 0) return '';
  const from = Math.max(0, at - 30);
  const cut = text.slice(from, at + word.length + 60).replace(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${cut}${at + word.length + 60 < text.length ? '…' : ''}`;
};

/** Where each session holds the words: its newest such message, or its title (null). */
const search = async (query: string): Promise<Map<string, NonNullable<Session['match']>>> => {
  const word = query.trim().toLowerCase();
  const found = new Map<string, NonNullable<Session['match']>>();
  await db.messages.reverse().each(({ id, uuid, message }) => {
    if (found.has(uuid)) return;
    const text =
      [readQuestion(message).text, message.ai].find((each) => each.toLowerCase().includes(word)) ??
      '';
    if (text !== '') found.set(uuid, { history_id: id, snippet: snippet(text, word) });
  });
  await db.sessions.each(({ uuid, session }) => {
    if (!found.has(uuid) && session.prompt.toLowerCase().includes(word))
      found.set(uuid, { history_id: null, snippet: snippet(session.prompt, word) });
  });
  return found;
};

const listSessions = async (input: In<'sessionList'>): Promise<Out<'sessionList'>> => {
  const { channel = 'public', query, model } = input;
  const own = authStore.get().user?.id;
  const page = Number(input.page ?? 1);
  const pageSize = Number(input.page_size ?? 20);
  const found = query ? await search(query) : null;
  const fits = ({ session }: KeptSession) =>
    (channel === 'private'
      ? session.user_id === own
      : channel === 'favorites'
        ? session.favorite
        : session.private === 0 && session.prompt !== '') &&
    (model === undefined || session.model === model) &&
    (input.user_id === undefined || session.user_id === Number(input.user_id)) &&
    (input.scenario_id === undefined || session.scenario_id === Number(input.scenario_id)) &&
    (found === null || found.has(session.uuid));
  const all = (await db.sessions.orderBy('updated_at').reverse().toArray()).filter(fits);
  return {
    list: all
      .slice((page - 1) * pageSize, page * pageSize)
      .map(({ session }) => ({ ...session, match: found?.get(session.uuid) ?? null })),
    page,
    page_count: Math.ceil(all.length / pageSize),
    page_size: pageSize,
    total: all.length,
    models: [...new Set(all.map(({ session }) => session.model))],
  };
};

const listMessages = async (input: In<'historyList'>): Promise<Out<'historyList'> | undefined> => {
  const uuid = await uuidOf(input.session_id);
  const before = Number(input.before ?? Infinity);
  const after = Number(input.after ?? 0);
  const kept = await db.messages.where('uuid').equals(uuid).sortBy('id');
  const all = kept.filter(
    ({ id }) => id < before && id > after && (input.id === undefined || id === Number(input.id)),
  );
  // Nothing at all is no empty session, unless the server said so. Behind a message that is kept
  // there may be none, as where a push led to the newest.
  const isBehindKept = kept.some(({ id }) => id === after);
  if (all.length === 0 && input.before === undefined && !isBehindKept)
    return (await db.answers.get(emptyOf(uuid)))?.data as Out<'historyList'> | undefined;
  const pageSize = Number(input.page_size ?? all.length);
  const page = Number(input.page ?? 1);
  const ordered = Number(input.newest ?? 0) === 1 ? all.reverse() : all;
  return {
    list: ordered.slice((page - 1) * pageSize, page * pageSize).map(({ message }) => message),
    page,
    page_count: pageSize === 0 ? 0 : Math.ceil(all.length / pageSize),
    page_size: pageSize,
    total: all.length,
  };
};

const read = async (name: PlainCallName, input: unknown): Promise<unknown> => {
  if ((await db.facts.get('account'))?.value !== me()) return undefined;
  if (name === 'sessionList' && !isForum(input)) {
    const list = await listSessions(input as In<'sessionList'>);
    return (await db.sessions.count()) === 0 ? undefined : list;
  }
  if (name === 'historyList') return listMessages(input as In<'historyList'>);
  if (name === 'getSession') {
    const uuid = await uuidOf((input as In<'getSession'>).uuid);
    // Reading needs no room: that it was opened is only worth knowing.
    await db.sessions.update(uuid, { opened: Date.now() }).catch(() => undefined);
    return (await db.sessions.get(uuid))?.detail ?? undefined;
  }
  return (await db.answers.get(callOf(name, input)))?.data;
};

/**
 * What a reading call would have answered; undefined: not kept. A disk that is full to the last byte
 * does not even let what it has be read: images give way to it.
 */
export const answer = async (name: PlainCallName, input: unknown): Promise<unknown> => {
  try {
    const kept = await makingRoom(() => read(name, input), giveWay.slice(0, 1));
    keptUnread.set(false);
    return kept;
  } catch (error) {
    keptUnread.set(isBroken(error));
    throw error;
  }
};
