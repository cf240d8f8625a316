import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync } from 'node:fs';
import type * as FilePromises from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TestClient, joined } from '../support/client.ts';
import { scratchFolder } from '../support/scratch.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import { tinyGguf } from '../support/tiny-gguf.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const model = tinyGguf();
const sha256 = createHash('sha256').update(model).digest('hex');

/** A mirror: `broken` breaks each answer off in its middle, `lying` sends what is not the file, `slow` waits there. */
const behaviour = { broken: false, lying: false, slow: false };
const ranges: (string | undefined)[] = [];
let mirror: Server;
let server: TestServer;
let owner: TestClient;
let host = '';

beforeAll(async () => {
  mirror = createServer((request, response) => {
    if (request.url?.startsWith('/gone/')) {
      response.writeHead(404).end();
      return;
    }
    ranges.push(request.headers.range);
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const data = Buffer.from(model.subarray(from));
    if (behaviour.lying) data[data.length - 1]! ^= 1;
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': data.length,
      'x-linked-etag': `"${sha256}"`,
      ...(from > 0 ? { 'content-range': `bytes ${from}-${model.length - 1}/${model.length}` } : {}),
    });
    if (behaviour.slow) {
      response.write(data.subarray(0, data.length / 2), () =>
        setTimeout(() => response.end(data.subarray(data.length / 2)), 1500),
      );
      return;
    }
    if (!behaviour.broken) {
      response.end(data);
      return;
    }
    response.write(data.subarray(0, data.length / 2), () =>
      // What was sent arrives first.
      setTimeout(() => response.destroy(), 300),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => mirror.once('listening', resolve));
  host = `127.0.0.1:${(mirror.address() as AddressInfo).port}`;
  server = await startServer({ env: { FETCH_ALLOWED: host, LOCAL_MODELS: 'off' } });
  owner = new TestClient(server.baseURL);
  await owner.login('admin', ADMIN_PASSWORD);
});
afterAll(async () => {
  await server?.stop();
  mirror?.close();
});

const key = 'qwen3-0.6b';
const shown = async () => {
  const { list } = await owner.call('localModels', {});
  return list.find((each) => each.key === key)!;
};
const settled = () =>
  vi.waitFor(
    async () => {
      const row = await shown();
      expect(['ready', 'failed']).toContain(row.state);
      return row;
    },
    { timeout: 20_000, interval: 100 },
  );

test('a model comes from a mirror, goes on after a break, is checked, and answers @P1', async () => {
  await owner.call('removeLocalModel', { key });
  // Only what everybody could reach is asked, unless the settings allow more.
  await owner.call('saveLocalMirrors', {
    mirrors: [
      'http://127.0.0.1:9/{file}',
      `http://${host}/gone/{file}`,
      `http://${host}/{repository}/{file}`,
    ],
  });
  behaviour.broken = true;
  await owner.call('fetchLocalModel', { key });
  const broken = await settled();
  expect(broken).toMatchObject({ state: 'failed', error: expect.stringContaining('答复 404') });
  expect(broken.bytes).toBeGreaterThan(0);
  expect(broken.bytes).toBeLessThan(model.length);

  behaviour.broken = false;
  await owner.call('fetchLocalModel', { key });
  expect(await settled()).toMatchObject({ state: 'ready', bytes: model.length });
  expect(ranges.at(-1)).toBe(`bytes=${broken.bytes}-`);
  const file = path.join(server.dataDir, 'models', 'Qwen3-0.6B-Q8_0.gguf');
  expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(sha256);

  const person = await TestClient.register(server.baseURL);
  const offered = (await person.call('models', {})).models.find(({ name }) => name === key);
  expect(offered).toMatchObject({ label: 'Qwen3 0.6B', factor: 0 });
  // One of random numbers never comes to an end by itself.
  const { list } = await owner.call('adminModelList', { name: key });
  await owner.call('setModel', { id: list.find(({ name }) => name === key)!.id, max_tokens: 12 });
  const asked = await person.ask('你好，山间明月', { model: key });
  const { text, done, error } = joined(await person.read(asked.uuid, asked.id));
  expect({ done, error }).toEqual({ done: true, error: null });
  expect(text.length).toBeGreaterThan(0);

  // A long answer is left off at once, and the next question is answered.
  const long = await person.ask('请写得很长很长', { model: key });
  await person.read(long.uuid, long.id, { onEvent: () => false });
  await person.call('stopStream', { history_id: long.id });
  const next = await person.ask('再来一次', { model: key });
  expect(joined(await person.read(next.uuid, next.id)).done).toBe(true);

  await owner.call('removeLocalModel', { key });
  expect(existsSync(file)).toBe(false);
  expect(
    (await person.call('models', {})).models.find(({ name }) => name === key)?.disable ?? 1,
  ).toBe(1);
});

test('what is not the file that was told of is thrown away', async () => {
  await owner.call('saveLocalMirrors', { mirrors: [`http://${host}/{file}`] });
  behaviour.lying = true;
  await owner.call('fetchLocalModel', { key });
  expect(await settled()).toMatchObject({
    state: 'failed',
    bytes: 0,
    error: expect.stringContaining('sha256'),
  });
  behaviour.lying = false;
  await owner.call('stopLocalModel', { key });
  expect((await shown()).state).toBe('none');
});

test('of two processes one brings it, and the other waits for that', async () => {
  const { dataDir, databaseUrl } = server;
  const second = await startServer({
    dataDir,
    databaseUrl,
    env: { FETCH_ALLOWED: host, LOCAL_MODELS: 'off' },
  });
  try {
    await owner.call('saveLocalMirrors', { mirrors: [`http://${host}/{file}`] });
    behaviour.slow = true;
    ranges.length = 0;
    const other = new TestClient(second.baseURL, owner.token);
    await owner.call('fetchLocalModel', { key });
    await vi.waitFor(() => expect(ranges).toHaveLength(1), { timeout: 5_000 });
    await other.call('fetchLocalModel', { key });
    expect(await settled()).toMatchObject({ state: 'ready', bytes: model.length });
    await vi.waitFor(
      async () => {
        const { list } = await other.call('localModels', {});
        expect(list.find((each) => each.key === key)).toMatchObject({ state: 'ready', error: '' });
      },
      { timeout: 10_000 },
    );
    expect(ranges).toHaveLength(1);
    const file = path.join(dataDir, 'models', 'Qwen3-0.6B-Q8_0.gguf');
    expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(sha256);
    await owner.call('removeLocalModel', { key });
  } finally {
    behaviour.slow = false;
    await second.stop();
  }
});

test('the shelf is its owner’s', async () => {
  const person = await TestClient.register(server.baseURL);
  expect((await person.raw('localModels', {})).status).toBe(404);
  expect((await owner.raw('fetchLocalModel', { key: '..' })).code).not.toBe(0);
  expect((await owner.raw('removeLocalModel', { key: '../secret-key' })).code).not.toBe(0);
});

test('of two that find a lock left behind one takes it', async () => {
  const files = await vi.importActual<typeof FilePromises>('node:fs/promises');
  let removals = 0;
  vi.doMock('node:fs/promises', () => ({
    ...files,
    // The second that takes it away does so after the first has made its own.
    rm: async (...given: Parameters<typeof files.rm>) => {
      removals += 1;
      if (removals === 2) await sleep(200);
      return files.rm(...given);
    },
  }));
  vi.resetModules();
  const { takeFile } = await import('#server/engines/local/fetch-model.ts');
  const file = path.join(scratchFolder('lock'), 'model.gguf');
  await files.writeFile(`${file}.lock`, `${hostname()} 999999999`);
  const taken = await Promise.all([takeFile(file), takeFile(file)]);
  expect(taken.filter((free) => free !== null)).toHaveLength(1);
  for (const free of taken) await free?.();
  expect(existsSync(`${file}.lock`)).toBe(false);
  vi.doUnmock('node:fs/promises');
});
