import type { CallName, In } from '../../contract/calls.ts';
import { requestOf, TestClient } from './client.ts';
import { ADMIN_PASSWORD, type ServerOptions, startServer, type TestServer } from './server.ts';

export type Role = 'none' | 'guest' | 'user' | 'other' | 'manager';

/** A session and one message of it that was answered. */
export interface Talk {
  uuid: string;
  id: number;
  historyId: number;
}

/** A server with one person of every role; `user` and `other` have a private session each. */
export interface World {
  server: TestServer;
  people: Record<Role, TestClient>;
  talks: { user: Talk; other: Talk };
  stop: () => Promise<void>;
}

export const secretOfOther = '别人的秘密：芝麻开门';

export const talk = async (client: TestClient, msg: string): Promise<Talk> => {
  const session = await client.call('newSession', { type: 0 });
  const sent = await client.call('sendMessage', { session_id: session.uuid, msg });
  await client.read(session.uuid, sent.id);
  return { uuid: session.uuid, id: session.id, historyId: sent.id };
};

export const createWorld = async (options: ServerOptions = {}): Promise<World> => {
  const server = await startServer(options);
  const person = () => TestClient.register(server.baseURL);
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 });
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const people = {
    none: new TestClient(server.baseURL),
    guest,
    user: await person(),
    other: await person(),
    manager,
  };
  return {
    server,
    people,
    talks: {
      user: await talk(people.user, '请用一句话介绍鹊桥'),
      other: await talk(people.other, secretOfOther),
    },
    stop: () => server.stop(),
  };
};

const password = 'password-1';

/** For every call an input that the contract takes, about one's own session. */
export const goodInputs = (own: Talk): { [K in CallName]: In<K> } => ({
  login: { account: 'nobody-here', password },
  register: { account: '', name: '', password: '', password2: '' },
  logout: {},
  authCheck: {},
  captcha: {},
  ticket: {},
  userInfo: {},
  saveSettings: { temperature: 10 },
  models: {},
  sessionList: { channel: 'public' },
  getSession: { uuid: own.uuid },
  newSession: { type: 0 },
  setSession: { session_id: own.uuid, private: 1 },
  deleteSession: { session_id: own.uuid },
  historyList: { session_id: own.uuid },
  lastMessages: { sessionId: own.uuid, maxHistoryId: 0 },
  sendMessage: { session_id: own.uuid, msg: '请再说一遍' },
  retryMessage: { session_id: own.uuid, history_id: own.historyId },
  eventStream: { session_id: own.uuid, history_id: own.historyId },
  stopStream: { history_id: own.historyId },
  deleteHistory: { session_id: own.uuid, id: own.historyId },
  transactionList: {},
  helpList: {},
  helpPage: { slug: 'start' },
  health: {},
});

export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The envelope; null where the body is none. */
  envelope: { code: number; message: string; data: unknown } | null;
}

const envelopeOf = (text: string): RawAnswer['envelope'] => {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && 'code' in value && 'data' in value
      ? (value as RawAnswer['envelope'])
      : null;
  } catch {
    return null;
  }
};

/** Sends anything as a call, whatever the contract thinks of it. */
export const sendRaw = async (
  client: TestClient,
  name: CallName,
  input: Record<string, unknown>,
  options: { headers?: Record<string, string>; body?: string } = {},
): Promise<RawAnswer> => {
  const { url, method, body } = requestOf(name, input);
  const response = await fetch(client.baseURL + url, {
    method,
    headers: {
      ...client.headers(),
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...options.headers,
    },
    ...(method === 'POST' ? { body: options.body ?? JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, envelope: envelopeOf(text) };
};
