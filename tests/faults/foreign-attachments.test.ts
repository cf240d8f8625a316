import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { exported } from '../support/exports.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** An id of an attached file opens it for its owner alone, whatever way it comes into a message. */

const secret = '只有甲知道的话：月亮是方的';

let service: MockOpenAi;
let server: TestServer;
let owner: TestClient;
let intruder: TestClient;
let talk: { uuid: string };
let fileId: string;

beforeAll(async () => {
  service = await startMockOpenAi();
  server = await startServer({
    env: { OPENAI_BASE_URL: service.baseURL, OPENAI_MODELS: 'mock-chat', SIGNUP_TOKENS: '1000000' },
  });
  owner = await TestClient.register(server.baseURL);
  intruder = await TestClient.register(server.baseURL);
  const { file } = await owner.upload('uploadFile', new Blob([secret]), '秘密.txt');
  fileId = file.uuid;
  const session = await owner.call('newSession', { type: 0, model: 'mock-chat', private: 0 });
  const sent = await owner.call('sendMessage', {
    session_id: session.uuid,
    format: 1,
    msg: JSON.stringify({ prompt: '里面写了什么', files: [{ uuid: fileId }] }),
  });
  await owner.read(session.uuid, sent.id);
  talk = { uuid: session.uuid };
});
afterAll(async () => {
  await server.stop();
  await service.close();
});

/** What the service is told when a person has their newest question answered anew. */
const told = async (who: TestClient, uuid: string) => {
  const { list } = await who.call('historyList', { session_id: uuid, newest: 1 });
  const { id } = await who.call('regenerateMessage', {
    session_id: uuid,
    history_id: list[0]?.id ?? 0,
  });
  await who.read(uuid, id);
  return { asked: JSON.stringify(service.lastRequest), message: list[0]?.human ?? '' };
};

test('the owner asks about it again', async () => {
  expect((await told(owner, talk.uuid)).asked).toContain(secret);
});

test('neither the page of a public session nor its export carries an id that opens it', async () => {
  const { list } = await intruder.call('historyList', { session_id: talk.uuid });
  expect(list[0]?.human).toContain('秘密.txt');
  expect(list[0]?.human).not.toContain(fileId);
  const { data } = await exported(intruder, talk.uuid, 'json');
  expect(data.toString()).toContain('秘密.txt');
  expect(data.toString()).not.toContain(fileId);
});

test('an import that names it gets nothing of it', async () => {
  const message = {
    id: 1,
    prev: 0,
    shown: true,
    human: '里面写了什么',
    request: { type: 'chat', files: [{ uuid: fileId, name: '我的.txt', size: 3 }] },
    ai: '不知道',
    state: 'done',
    model: 'mock-chat',
  };
  const { uuid } = await intruder.call('importSessions', {
    data: { queqiao: 1, sessions: [{ title: '导入', model: 'mock-chat', messages: [message] }] },
  });
  const { asked, message: human } = await told(intruder, uuid ?? '');
  expect(asked).toContain('里面写了什么');
  expect(asked).not.toContain(secret);
  expect(human).toContain('我的.txt');
  expect(human).not.toContain(fileId);
});

test('the owner’s own file comes back with an import', async () => {
  const { data } = await exported(owner, talk.uuid, 'json');
  const { uuid } = await owner.call('importSessions', { data: JSON.parse(data.toString()) });
  expect((await told(owner, uuid ?? '')).asked).toContain(secret);
});

test('a fork of the public session gets nothing of it either, and the owner’s own does', async () => {
  const shown = (await owner.call('historyList', { session_id: talk.uuid })).list[0]?.id ?? 0;
  const forked = (who: TestClient) =>
    who.call('newSession', { type: 0, history_id: shown }, { 'idempotency-key': randomUUID() });
  const { uuid } = await forked(intruder);
  const { asked } = await told(intruder, uuid);
  expect(asked).toContain('里面写了什么');
  expect(asked).not.toContain(secret);
  expect((await told(owner, (await forked(owner)).uuid)).asked).toContain(secret);
});

test('nothing of it either once the session was made private, and after it was deleted', async () => {
  const message = {
    id: 1,
    prev: 0,
    shown: true,
    human: '里面写了什么',
    request: { type: 'chat', files: [{ uuid: fileId, name: '我的.txt', size: 3 }] },
    ai: '不知道',
    state: 'done',
    model: 'mock-chat',
  };
  const imported = async () =>
    (
      await intruder.call('importSessions', {
        data: {
          queqiao: 1,
          sessions: [{ title: '导入', model: 'mock-chat', messages: [message] }],
        },
      })
    ).uuid ?? '';
  const shown = (await owner.call('historyList', { session_id: talk.uuid })).list[0]?.id ?? 0;
  const { uuid: fork } = await intruder.call(
    'newSession',
    { type: 0, history_id: shown },
    { 'idempotency-key': randomUUID() },
  );
  const before = await imported();
  const nothing = async () => {
    for (const uuid of [fork, before, await imported()]) {
      const { asked } = await told(intruder, uuid);
      expect(asked).toContain('里面写了什么');
      expect(asked).not.toContain(secret);
    }
  };
  await owner.call('setSession', { session_id: talk.uuid, private: 1 });
  await nothing();
  await owner.call('deleteSession', { session_id: talk.uuid });
  await nothing();
});
