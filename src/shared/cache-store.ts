import type { In, Out, PlainCallName } from '@contract/calls.ts';
import type { Message } from '@contract/chat.ts';
import type { Session, SessionDetail } from '@contract/session.ts';
import Dexie, { type Table } from 'dexie';
import { accountOf, authStore } from './auth-store.ts';
import { databaseName } from './cache.ts';
import { readQuestion } from './question.ts';

interface KeptSession {
  uuid: string;
  id: number;
  updated_at: string;
  session: Session;
  /** All of it, where the session was opened. */
  detail: SessionDetail | null;
}
interface KeptMessage {
  id: number;
  /** Of its session. */
  uuid: string;
  message: Message;
}

/** How much is kept; the oldest goes first. */
const most = { sessions: 2_000, messages: 20_000 } as const;

const makeDatabase = () => {
  const db = new Dexie(databaseName) as Dexie & {
    sessions: Table<KeptSession, string>;
    messages: Table<KeptMessage, number>;
    facts: Table<{ name: string; value: string }, string>;
  };
  db.version(1).stores({
    sessions: 'uuid, id, updated_at',
    messages: 'id, uuid',
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
  await Promise.all([db.sessions.clear(), db.messages.clear(), db.facts.clear()]);
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
    })),
  );
};

const uuidOf = async (ref: unknown): Promise<string> => {
  const text = String(ref).toLowerCase();
  if (text.includes('-')) return text;
  return (await db.sessions.where('id').equals(Number(text)).first())?.uuid ?? '';
};

const putMessages = async (ref: unknown, messages: readonly Message[]) => {
  const uuid = await uuidOf(ref);
  // One that is being written is read from its stream, and kept once it is whole.
  const whole = messages.filter((message) => message.state !== 'streaming');
  if (uuid) await db.messages.bulkPut(whole.map((message) => ({ id: message.id, uuid, message })));
};

const dropSession = async (ref: unknown) => {
  const uuid = await uuidOf(ref);
  await Promise.all([db.sessions.delete(uuid), db.messages.where('uuid').equals(uuid).delete()]);
};

const keepOne = async (name: PlainCallName, input: unknown, data: unknown) => {
  if (name === 'sessionList') await putSessions((data as Out<'sessionList'>).list);
  else if (name === 'getSession') {
    const detail = data as SessionDetail;
    if (!detail.temporary) await putSessions([detail], detail);
  } else if (name === 'historyList')
    await putMessages((input as In<'historyList'>).session_id, (data as Out<'historyList'>).list);
  else if (name === 'lastMessages')
    await putMessages((input as In<'lastMessages'>).sessionId, data as Message[]);
  else if (name === 'deleteSession') await dropSession((input as In<'deleteSession'>).session_id);
  else if (name === 'deleteHistory') {
    const { id, session_id: ref } = input as In<'deleteHistory'>;
    if ((data as Out<'deleteHistory'>).is_session) await dropSession(ref);
    else await db.messages.delete(Number(id));
  }
};

const trim = async () => {
  const sessions = (await db.sessions.count()) - most.sessions;
  if (sessions > 0) {
    const oldest = await db.sessions.orderBy('updated_at').limit(sessions).primaryKeys();
    await db.sessions.bulkDelete(oldest);
    await db.messages.where('uuid').anyOf(oldest).delete();
  }
  const messages = (await db.messages.count()) - most.messages;
  if (messages > 0)
    await db.messages.bulkDelete(await db.messages.orderBy('id').limit(messages).primaryKeys());
};

/** Writes down what calls answered. */
export const keep = async (
  heard: readonly [name: PlainCallName, input: unknown, data: unknown][],
): Promise<void> => {
  await claim();
  await db.transaction('rw', db.sessions, db.messages, async () => {
    for (const each of heard) await keepOne(...each);
    await trim();
  });
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
  const all = (await db.messages.where('uuid').equals(uuid).sortBy('id')).filter(
    ({ id }) => id < before && id > after && (input.id === undefined || id === Number(input.id)),
  );
  // Nothing at all is not an empty session.
  if (all.length === 0 && input.before === undefined) return undefined;
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

/** What a reading call would have answered; undefined: not kept. */
export const answer = async (name: PlainCallName, input: unknown): Promise<unknown> => {
  if ((await db.facts.get('account'))?.value !== me()) return undefined;
  if (name === 'sessionList') {
    const list = await listSessions(input as In<'sessionList'>);
    return (await db.sessions.count()) === 0 ? undefined : list;
  }
  if (name === 'historyList') return listMessages(input as In<'historyList'>);
  if (name === 'getSession') {
    const uuid = await uuidOf((input as In<'getSession'>).uuid);
    return (await db.sessions.get(uuid))?.detail ?? undefined;
  }
  return undefined;
};
