import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('memos are written, listed, counted by a job, and seen by managers alone', async () => {
  const person = await TestClient.register(server.baseURL);
  await person.call('saveMemo', { text: '买一座桥' });
  expect((await person.call('memoList', {})).list[0]).toMatchObject({ text: '买一座桥' });
  const other = await TestClient.register(server.baseURL);
  expect((await other.call('memoList', {})).total).toBe(0);
  const { request_id } = await person.call('countMemos', {});
  await expect
    .poll(async () => {
      const { list } = await person.call('jobList', {});
      return list.find(({ uuid }) => uuid === request_id)?.state;
    })
    .toBe('done');
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  expect((await manager.call('manageMemoList', {})).total).toBe(1);
});
