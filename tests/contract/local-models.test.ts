import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type * as FilePromises from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { FastifyBaseLogger } from 'fastify';
import { modelTypes } from '#contract/kinds.ts';
import { beginReadingAgain } from '#server/areas/train/read-again.ts';
import { openDatabase } from '#server/db/database.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import { TestClient, joined } from '../support/client.ts';
import { apiUser } from '../support/api-user.ts';
import { scratchFolder } from '../support/scratch.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import { writeOnnxVoice } from '../support/onnx-voice.ts';
import { tarBz2 } from '../support/tar-bz2.ts';
import { tinyGguf } from '../support/tiny-gguf.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const hashOf = (data: Buffer) => createHash('sha256').update(data).digest('hex');
const model = tinyGguf();
const sha256 = hashOf(model);
const ranks = tinyGguf('rank');

/** Small ones in place of those on the shelf, and some of each kind that the test asks for. */
const ownShelf = (
  [
    ['qwen3-0.6b', 'chat', 'Qwen3-0.6B-Q8_0.gguf', model, ''],
    ['tiny-embedding', 'embedding', 'tiny-embedding.gguf', model, sha256],
    ['tiny-rerank', 'rerank', 'tiny-rerank.gguf', ranks, hashOf(ranks)],
  ] as const
).map(([name, kind, file, data, hash]) => ({
  key: name,
  kind,
  label: name === 'qwen3-0.6b' ? 'Qwen3 0.6B' : name,
  file,
  size: data.length,
  sha256: hash,
}));

/** A mirror: `mute` tells no hash, `broken` breaks each answer off in its middle, `lying` sends what is not the file, `slow` waits there. */
const behaviour = { broken: false, lying: false, slow: false, mute: false };
const ranges: (string | undefined)[] = [];
/** What lies at a path of the mirror. */
const archives = new Map<string, Buffer>();
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
    const whole =
      archives.get(request.url ?? '') ?? (request.url?.includes('rerank') ? ranks : model);
    const data = Buffer.from(whole.subarray(from));
    if (behaviour.lying) data[data.length - 1]! ^= 1;
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': data.length,
      ...(behaviour.mute ? {} : { 'x-linked-etag': `"${hashOf(whole)}"` }),
      ...(from > 0 ? { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}` } : {}),
    });
    if (behaviour.slow) {
      response.write(data.subarray(0, data.length / 2), () =>
        setTimeout(() => response.end(data.subarray(data.length / 2)), 2500),
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
  mkdirSync(path.join(server.dataDir, 'models'), { recursive: true });
  writeFileSync(path.join(server.dataDir, 'models', 'shelf.json'), JSON.stringify(ownShelf));
  owner = new TestClient(server.baseURL);
  await owner.login('admin', ADMIN_PASSWORD);
});
afterAll(async () => {
  await server?.stop();
  mirror?.close();
});

const key = 'qwen3-0.6b';
const shown = async (of = key) => {
  const { list } = await owner.call('localModels', {});
  return list.find((each) => each.key === of)!;
};
const settled = (of = key) =>
  vi.waitFor(
    async () => {
      const row = await shown(of);
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
  expect(await settled()).toMatchObject({ state: 'ready', bytes: model.length, checked: true });
  // Each try is a task of whoever pressed.
  const [second, first] = (await owner.call('jobList', {})).list;
  expect(second).toMatchObject({ kind: 'local-model', title: 'Qwen3 0.6B', state: 'done' });
  expect(first).toMatchObject({ kind: 'local-model', state: 'error', error_message: broken.error });
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

test('without a network it is said how a model comes by hand, and what is not the file that was told of is thrown away', async () => {
  await owner.call('saveLocalMirrors', { mirrors: ['http://127.0.0.1:9/{file}'] });
  await owner.call('fetchLocalModel', { key });
  expect((await settled()).error).toMatch(/没有网络.*Qwen3-0\.6B-Q8_0\.gguf，放进 \S+models/);
  await owner.call('saveLocalMirrors', { mirrors: [`http://${host}/{file}`] });
  behaviour.lying = true;
  await owner.call('fetchLocalModel', { key });
  expect(await settled()).toMatchObject({
    state: 'failed',
    bytes: 0,
    error: expect.stringContaining('校验值不符'),
  });
  behaviour.lying = false;
  await owner.call('stopLocalModel', { key });
  expect((await shown()).state).toBe('none');
});

test('without a checksum the size decides, and it is told that nobody checked it', async () => {
  await owner.call('saveLocalMirrors', { mirrors: [`http://${host}/{file}`] });
  behaviour.mute = true;
  try {
    const short = ownShelf.map((each) =>
      each.key === key ? { ...each, size: each.size + 1 } : each,
    );
    const file = path.join(server.dataDir, 'models', 'shelf.json');
    writeFileSync(file, JSON.stringify(short));
    await owner.call('fetchLocalModel', { key });
    expect(await settled()).toMatchObject({ state: 'failed', error: /大小/ });
    writeFileSync(file, JSON.stringify(ownShelf));
    await owner.call('fetchLocalModel', { key });
    expect(await settled()).toMatchObject({ state: 'ready', checked: false });
    // What the shelf itself knows of is checked whatever the mirror says.
    behaviour.lying = true;
    await owner.call('fetchLocalModel', { key: 'tiny-embedding' });
    expect(await settled('tiny-embedding')).toMatchObject({ state: 'failed', error: /sha256/ });
  } finally {
    Object.assign(behaviour, { mute: false, lying: false });
    await owner.call('removeLocalModel', { key });
  }
});

test('a model that embeds reads old bases again for nothing; gone, they are asked by words; one that ranks puts in order', async () => {
  const person = await TestClient.register(server.baseURL);
  const { model: base } = await person.call('newTrainModel', {
    name: '风物',
    type: 0,
  });
  const now = async () => (await person.call('trainModel', { model_id: base.id })).model;
  const learn = async (name: string, text: string) => {
    const form = new FormData();
    form.set('model_id', String(base.id));
    form.set('file', new Blob([text]), name);
    const { over_num: before } = await now();
    await fetch(`${server.baseURL}/api/train/upload_file`, {
      method: 'POST',
      headers: person.headers(),
      body: form,
    });
    await vi.waitFor(async () => expect((await now()).over_num).toBe(before + 1), {
      timeout: 20_000,
    });
  };
  const text = ['山间的清风很凉', '桥上可以看明月', '模型通向许多问答'].map(
    (line) => `# ${line}\n\n${line}，说了又说。`,
  );
  await learn('山水.md', text.join('\n\n'));
  expect((await now()).engine).toBe('');
  const find = async (question = '桥上的明月') =>
    (await person.call('askKnowledge', { embedding_key: base.key, question })).list;
  const plain = (await find()).map(({ id }) => id);
  expect((await find()).every(({ vector_rank }) => vector_rank === 0)).toBe(true);

  await owner.call('saveLocalMirrors', { mirrors: [`http://${host}/{file}`] });
  await owner.call('fetchLocalModel', { key: 'tiny-embedding' });
  await settled('tiny-embedding');
  await vi.waitFor(
    async () =>
      expect((await person.call('trainEngines', {})).embedding).toEqual(['tiny-embedding']),
    { timeout: 10_000, interval: 200 },
  );
  // As once a minute one of all processes does.
  const pool = new pg.Pool({ connectionString: server.databaseUrl, max: 2 });
  const db = openDatabase(pool);
  try {
    const names = () => Promise.resolve(['tiny-embedding']);
    const log = { info: () => {} } as unknown as FastifyBaseLogger;
    const embeddings = { names, freeNames: names } as unknown as EmbeddingModels;
    const begin = () => db.transaction((tx) => beginReadingAgain({ embeddings, log }, tx));
    await begin();
    const job = (await now()).job;
    if (job) expect(job).toMatchObject({ kind: 'embedding', model: '重读段落', held_tokens: 0 });
    await vi.waitFor(
      async () => expect(await now()).toMatchObject({ engine: 'tiny-embedding', job: null }),
      { timeout: 30_000 },
    );
    // Its weights are drawn by chance: what is found is what words find, and whole still.
    expect((await find()).map(({ id, vector_rank: rank }) => [id, rank])).toEqual(
      plain.map((id) => [id, 0]),
    );
    // Whoever has read it all is not made to read again.
    await begin();
    expect((await now()).job).toBeNull();
  } finally {
    await pool.end();
  }
  await learn('后来.md', '# 后来\n\n后来的一段，也有它的数。');
  expect(await now()).toMatchObject({ engine: 'tiny-embedding', token: 0 });

  const { key: apiKey } = await apiUser(server);
  const embeds = async (body: object) =>
    (
      await fetch(`${server.baseURL}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'tiny-embedding', input: ['明月', '清风'], ...body }),
      })
    ).json() as Promise<{ data?: { embedding: number[] }[]; error?: { message: string } }>;
  const { data } = await embeds({});
  expect(data?.map(({ embedding }) => Math.round(Math.hypot(...embedding)))).toEqual([1, 1]);
  expect((await embeds({ dimensions: 7 })).error?.message).toMatch(/只有 32 维/);

  const asked = async () => {
    const answer = await find();
    return answer.map(({ score }) => score);
  };
  const before = await asked();
  await owner.call('fetchLocalModel', { key: 'tiny-rerank' });
  await settled('tiny-rerank');
  await vi.waitFor(
    async () => {
      const scores = await asked();
      expect(scores).not.toEqual(before);
      expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
      expect([...scores].sort((one, other) => other - one)).toEqual(scores);
    },
    { timeout: 20_000, interval: 500 },
  );
  await owner.call('removeLocalModel', { key: 'tiny-rerank' });
  await owner.call('removeLocalModel', { key: 'tiny-embedding' });
  expect((await find('山间的清风')).length).toBeGreaterThan(0);
});

test('a model of several files is unpacked within its bounds, and hears or speaks by its name', async () => {
  await owner.call('saveLocalMirrors', { mirrors: [`http://${host}/{file}`] });
  const good = {
    'hears/model.int8.onnx': 'x',
    'hears/tokens.txt': 'a 0\n',
    'hears/dict/of/words.txt': 'b',
  };
  const outside = path.join(server.dataDir, 'models');
  const spoken = scratchFolder('voice');
  writeOnnxVoice(spoken, '今天气很好');
  const voice = Object.fromEntries(
    readdirSync(spoken).map((name) => [`speaks/${name}`, readFileSync(path.join(spoken, name))]),
  );
  const cases = {
    'tiny-hear': good,
    'tiny-speak': { ...voice, 'speaks/link.txt -> /etc/passwd': '' },
    escapes: { ...good, 'hears/../../escaped.txt': 'x' },
    linked: { 'hears/dict -> ..': '', 'hears/dict/escaped.txt': 'x', ...good },
    large: { ...good, 'hears/more.bin': '0'.repeat(200_000) },
  };
  const entries = [];
  for (const [name, files] of Object.entries(cases)) {
    const data = await tarBz2(files);
    const file = `${name}.tar.bz2`;
    archives.set(`/${file}`, data);
    entries.push({
      key: name,
      kind: name === 'tiny-speak' ? 'speak' : 'hear',
      label: name,
      file,
      size: data.length,
      sha256: hashOf(data),
      unpacked: 10_000,
    });
  }
  writeFileSync(path.join(outside, 'shelf.json'), JSON.stringify([...ownShelf, ...entries]));
  try {
    for (const name of Object.keys(cases)) await owner.call('fetchLocalModel', { key: name });
    for (const name of ['tiny-hear', 'tiny-speak', 'linked'])
      expect(await settled(name)).toMatchObject({ state: 'ready', checked: true });
    expect(await settled('escapes')).toMatchObject({ state: 'failed', error: /路径/ });
    expect(await settled('large')).toMatchObject({ state: 'failed', error: /说好的多/ });
    expect(existsSync(path.join(outside, 'escaped.txt'))).toBe(false);
    expect(readdirSync(outside).filter((name) => /unpacking|bz2$/.test(name))).toEqual([]);
    expect(readdirSync(path.join(outside, 'tiny-speak')).sort()).toEqual(
      readdirSync(spoken).sort(),
    );
    // No link is made, so what lies behind one is in the model's own folder.
    expect(readdirSync(path.join(outside, 'linked/dict')).sort()).toEqual(['escaped.txt', 'of']);

    const person = await TestClient.register(server.baseURL);
    const offered = (await person.call('models', {})).models;
    expect(offered.find(({ name }) => name === 'tiny-hear')).toMatchObject({
      type: modelTypes.speechToText,
      factor: 0,
    });
    expect(offered.find(({ name }) => name === 'tiny-speak')?.type).toBe(modelTypes.textToSpeech);
    const sound = await fetch(`${person.baseURL}/api/text_to_speech`, {
      method: 'POST',
      headers: { ...person.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tiny-speak', text: '今天天气很好。' }),
    });
    expect(sound.headers.get('content-type')).toMatch(/^audio\//);
    expect((await sound.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  } finally {
    for (const name of Object.keys(cases)) await owner.call('removeLocalModel', { key: name });
    writeFileSync(path.join(outside, 'shelf.json'), JSON.stringify(ownShelf));
  }
  expect(readdirSync(outside).filter((name) => name.startsWith('tiny-'))).toEqual([]);
});

test('of two processes the one whose settings name it brings it, and the other waits for that', async () => {
  const { dataDir, databaseUrl } = server;
  await owner.call('saveLocalMirrors', { mirrors: [`http://${host}/{file}`] });
  behaviour.slow = true;
  ranges.length = 0;
  const second = await startServer({
    dataDir,
    databaseUrl,
    env: { FETCH_ALLOWED: host, LOCAL_MODELS: 'off', LOCAL_MODEL: key },
  });
  try {
    const other = new TestClient(second.baseURL, owner.token);
    await vi.waitFor(() => expect(ranges).toHaveLength(1), { timeout: 5_000 });
    await owner.call('fetchLocalModel', { key });
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

test('a download that is stopped among the tasks ends, keeps what came, and goes on from there', async () => {
  await owner.call('saveLocalMirrors', { mirrors: [`http://${host}/{file}`] });
  behaviour.slow = true;
  ranges.length = 0;
  try {
    await owner.call('fetchLocalModel', { key });
    await vi.waitFor(async () => expect((await shown()).bytes).toBeGreaterThan(0), 5_000);
    const [job] = (await owner.call('jobList', { running: 1 })).list;
    await vi.waitFor(async () => {
      const [now] = (await owner.call('jobList', { running: 1 })).list;
      expect(now?.progress).toBeGreaterThan(0);
    }, 2_000);
    expect(await owner.call('cancelJob', { request_id: job!.uuid })).toEqual({ cancelled: true });
    const { state, bytes, error } = await shown();
    expect({ state, error }).toEqual({ state: 'waiting', error: '' });
    expect((await owner.call('jobList', { running: 1 })).list).toEqual([]);
    behaviour.slow = false;
    await owner.call('fetchLocalModel', { key });
    expect(await settled()).toMatchObject({ state: 'ready', bytes: model.length });
    expect(ranges).toEqual([undefined, `bytes=${bytes}-`]);
  } finally {
    behaviour.slow = false;
    await owner.call('removeLocalModel', { key });
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

test('Ollama brings a model by its name, with its progress, and the model is offered at once', async () => {
  const has: string[] = [];
  const asked: unknown[] = [];
  let breaks = true;
  const ollama = createServer((request, response) => {
    if (request.url === '/api/tags') {
      response.end(JSON.stringify({ models: has.map((name) => ({ name })) }));
      return;
    }
    if (request.url !== '/api/pull') {
      response.writeHead(404).end();
      return;
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { model: name } = JSON.parse(body) as { model: string };
      asked.push(JSON.parse(body));
      const say = (line: object) => response.write(`${JSON.stringify(line)}\n`);
      if (name === 'no-such-model') {
        response.end(JSON.stringify({ error: 'pull model manifest: file does not exist' }));
        return;
      }
      say({ status: 'pulling manifest' });
      // Half of a line comes before the other.
      response.write('{"status":"pulling 0123","total":2000,');
      setTimeout(() => {
        response.write('"completed":500}\n');
        setTimeout(() => {
          if (breaks) response.destroy();
          else {
            has.push(name);
            say({ status: 'verifying sha256 digest' });
            response.end('{"status":"success"}\n');
          }
        }, 800);
      }, 50);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => ollama.once('listening', resolve));
  const base_url = `http://127.0.0.1:${(ollama.address() as AddressInfo).port}/v1`;
  const place = await startServer({ env: { LOCAL_MODELS: base_url } });
  try {
    const manager = new TestClient(place.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    const pulls = async () => (await manager.call('localModels', {})).ollama[0]?.pulls ?? [];
    const until = (state: string) =>
      vi.waitFor(async () => expect(await pulls()).toMatchObject([{ state }]), {
        interval: 50,
        timeout: 10_000,
      });
    expect((await manager.call('localModels', {})).ollama).toMatchObject([
      { base_url, models: [] },
    ]);

    await manager.call('pullOllama', { base_url, model: 'qwen3:0.6b' });
    await vi.waitFor(
      async () =>
        expect(await pulls()).toMatchObject([{ state: 'pulling', bytes: 500, total: 2000 }]),
      { interval: 20, timeout: 10_000 },
    );
    // Whichever process is asked says the same of it, and it is a job like any other.
    const beside = await startServer({
      dataDir: place.dataDir,
      databaseUrl: place.databaseUrl,
      env: { LOCAL_MODELS: base_url, WORKERS: '0' },
    });
    try {
      const other = new TestClient(beside.baseURL, manager.token);
      await vi.waitFor(async () => {
        const [told] = (await other.call('localModels', {})).ollama;
        expect(told?.pulls).toMatchObject([{ model: 'qwen3:0.6b', state: 'failed' }]);
      }, 10_000);
      const [job] = (await other.call('jobList', {})).list;
      expect(job).toMatchObject({ kind: 'ollama', title: 'qwen3:0.6b', state: 'error' });
    } finally {
      await beside.stop();
    }
    await until('failed');
    breaks = false;
    await manager.call('pullOllama', { base_url, model: 'qwen3:0.6b' });
    await until('done');
    const wanted = { model: 'qwen3:0.6b', stream: true };
    expect(asked).toEqual([wanted, wanted]);
    const { models } = await manager.call('models', {});
    expect(models.find(({ name }) => name === 'qwen3:0.6b')?.factor).toBe(0);
    expect((await manager.call('localModels', {})).found).toMatchObject([
      { models: [{ name: 'qwen3:0.6b' }] },
    ]);

    await manager.call('stopOllama', { base_url, model: 'qwen3:0.6b' });
    await manager.call('pullOllama', { base_url, model: 'no-such-model' });
    await until('failed');
    expect((await pulls())[0]?.error).toMatch(/file does not exist/);
    // Nowhere but where the settings say is asked.
    const elsewhere = { base_url: `http://${host}/v1`, model: 'qwen3:0.6b' };
    expect((await manager.raw('pullOllama', elsewhere)).status).toBe(404);
    expect((await manager.raw('pullOllama', { base_url, model: '../x' })).status).toBe(422);
  } finally {
    await place.stop();
    ollama.close();
  }
});
