import { type CallName, calls, type In } from '../../contract/calls.ts';
import { quickFetch, requestOf, TestClient } from './client.ts';
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
  const server = await startServer({
    ...options,
    env: { ASSISTANT_RATE: '0', ...options.env },
  });
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

const noUuid = '4b1b0a52-6f0c-4a6f-9e0a-0d6d3f3f9a11';

/** A picture of one pixel. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

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
  newSession: { type: 0, history_id: own.historyId },
  setSession: { session_id: own.uuid, private: 1 },
  deleteSession: { session_id: own.uuid },
  historyList: { session_id: own.uuid },
  lastMessages: { sessionId: own.uuid, maxHistoryId: 0 },
  sendMessage: { session_id: own.uuid, msg: '请再说一遍' },
  retryMessage: { session_id: own.uuid, history_id: own.historyId },
  eventStream: { session_id: own.uuid, history_id: own.historyId },
  stopStream: { history_id: own.historyId },
  deleteHistory: { session_id: own.uuid, id: own.historyId },
  regenerateMessage: { session_id: own.uuid, history_id: own.historyId },
  switchBranch: { session_id: own.uuid, history_id: own.historyId },
  updateMessage: { session_id: own.uuid, id: own.historyId, content: '改过的内容' },
  historyLike: { session_id: own.uuid, history_id: own.historyId },
  addToFavorites: { session_id: own.uuid, history_id: own.historyId },
  removeFromFavorites: { session_id: own.uuid, history_id: own.historyId },
  newFriend: { friend_user_id: 1 },
  searchMessages: { session_id: own.uuid, query: '介绍' },
  modelStat: {
    state: 'success',
    first_time: 300,
    time: 1200,
    model: 'builtin-assistant',
    request_time: '2026-01-01T00:00:00.000Z',
  },
  shareSession: { session_id: own.uuid },
  shareInfo: { session_id: own.uuid },
  unshareSession: { session_id: own.uuid },
  sharedSession: { key: 'no-such-key-at-all-1234' },
  exportSession: { session_id: own.uuid, format: 'markdown' },
  exportFile: { key: 'no-such-key-at-all-1234' },
  importSessions: { data: [] },
  uploadImage: {},
  uploadFile: {},
  imageByUrl: { url: 'https://127.0.0.1/a.png' },
  scenarioCategory: {},
  scenarioList: {},
  embeddingList: {},
  passageTokens: { embedding_key: 'help', question: '余额不足怎么办' },
  noticeInfo: {},
  updateNotice: { notice_id: 1 },
  transactionList: {},
  helpList: {},
  helpPage: { slug: 'start' },
  jobList: {},
  cancelJob: { request_id: noUuid },
  jobEvents: {},
  generateImage: { history_id: own.historyId, request_id: noUuid },
  imageProgress: { request_id: noUuid },
  imageMetadata: { model: 'builtin-canvas' },
  promptParameter: { model: 'builtin-canvas', prompt: '山间的月亮' },
  controlnetDetect: {
    model: 'builtin-canvas',
    controlnet_module: 'canny',
    controlnet_image_url: 'https://127.0.0.1/a.png',
  },
  interrogateImage: { image_url: 'https://127.0.0.1/a.png' },
  croppingImage: { image: `data:image/png;base64,${onePixel.toString('base64')}` },
  uploadedFiles: {},
  privateImages: {},
  translate: { msg: '月亮', cn2en: 1 },
  inscriptor: { msg: '月亮' },
  promptList: {},
  topPrompt: { id: 11001, type: 'quality' },
  hidePrompt: { id: 11001, type: 'quality' },
  waitStatus: { waits: [{ kind: 'answer', id: String(own.historyId) }] },
  pushKey: {},
  pushSubscribe: {
    endpoint: 'https://push.example.com/abc',
    keys: {
      p256dh:
        'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
      auth: 'tBHItJI5svbpez7KI4CCXg',
    },
    device: noUuid,
  },
  pushUnsubscribe: { device: noUuid },
  watchWaits: { device: noUuid, waits: [] },
  health: {},
  siteInfo: {},
});

const goodFile = (name: CallName): FormData => {
  const form = new FormData();
  if (name === 'uploadImage')
    form.set('file', new Blob([onePixel], { type: 'image/png' }), 'a.png');
  else form.set('file', new Blob(['第一行\n第二行'], { type: 'text/plain' }), '笔记.txt');
  return form;
};

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

/** What a call answered; of a stream that goes on as long as anybody reads, its head is enough. */
export const bodyOf = async (response: Response, name: CallName): Promise<string> => {
  if (name !== 'jobEvents' || !response.ok) return response.text();
  await response.body?.cancel();
  return '';
};

/** Sends anything as a call, whatever the contract thinks of it. */
export const sendRaw = async (
  client: TestClient,
  name: CallName,
  input: Record<string, unknown>,
  options: { headers?: Record<string, string>; body?: string } = {},
): Promise<RawAnswer> => {
  const { url, method, body, hasBody } = requestOf(name, input);
  const isUpload = calls[name].kind === 'upload' && options.body === undefined;
  const headers = {
    ...client.headers(),
    ...(hasBody && !isUpload ? { 'content-type': 'application/json' } : {}),
    ...options.headers,
  };
  const sent = isUpload ? goodFile(name) : (options.body ?? JSON.stringify(body));
  const where = client.baseURL + url;
  const how = { method, headers };
  if (calls[name].kind === 'call' && typeof sent === 'string') {
    const answer = await quickFetch(where, hasBody ? { ...how, body: sent } : how);
    return { ...answer, envelope: envelopeOf(answer.text) };
  }
  const response = await fetch(where, hasBody ? { ...how, body: sent } : how);
  const text = await bodyOf(response, name);
  return { status: response.status, headers: response.headers, text, envelope: envelopeOf(text) };
};
