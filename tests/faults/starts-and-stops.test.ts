import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joined, TestClient } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { scratchFolder } from '../support/scratch.ts';
import { ADMIN_PASSWORD, makeDatabase, startServer, untilAnswering } from '../support/server.ts';

/** What a server that is started or stopped says, to people and to load balancers. */

const main = 'dist/server/main.js';
const statusOf = async (url: string): Promise<number> =>
  (await fetch(url).catch(() => null))?.status ?? 0;

describe('a start that cannot work says why in one line, and ends', () => {
  test.concurrent.each([
    [{ TRUST_PROXY: 'nonsense' }, 'TRUST_PROXY'],
    [{ PUBLIC_URL: 'nonsense' }, 'PUBLIC_URL'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
    [{ LOG_FORMAT: 'loud' }, 'LOG_FORMAT'],
    [{ HOST: '192.0.2.1' }, 'HOST'],
    [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 'DATABASE_URL'],
    // It cannot be made, and what tries to make it must not try for ever.
    [{ DATA_DIR: '/proc/x' }, 'DATA_DIR'],
  ])('%o', async (env, named) => {
    const dataDir = scratchFolder('start');
    const child = spawn(process.execPath, [main], {
      env: {
        PATH: process.env['PATH'],
        DATA_DIR: dataDir,
        LOCAL_MODELS: 'off',
        PORT: String(await freePort()),
        DATABASE_URL: await makeDatabase(),
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(1);
    expect(said.trim().split('\n')).toHaveLength(1);
    expect(said).toContain(named);
    rmSync(dataDir, { recursive: true, force: true });
  });
});

/** Runs it to its end: what it said, and its code. */
const ended = async (
  args: string[],
  env: NodeJS.ProcessEnv,
  as: { uid?: number; gid?: number } = {},
) => {
  const child = spawn(process.execPath, args, {
    ...as,
    env: { PATH: process.env['PATH'], LOCAL_MODELS: 'off', HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...said, code };
};

test('a port that was asked for and is taken is said before anything is made or printed', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const dataDir = scratchFolder('port');
  const { out, err, code } = await ended([main], { PORT: String(port), DATA_DIR: dataDir });
  other.close();
  expect({ out, code }).toEqual({ out: '', code: 1 });
  expect(err.trim()).toBe(`端口 ${port} 已被别的程序占用，请用 PORT 换一个，或先停下那个程序`);
  expect(readdirSync(dataDir)).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});

test('an old Node is told what is needed, and where it is had', async () => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })`;
  const { out, err, code } = await ended(
    ['--import', `data:text/javascript,${encodeURIComponent(old)}`, 'scripts/start.mjs'],
    {},
  );
  expect({ out, code }).toEqual({ out: '', code: 1 });
  expect(err).toMatch(/^鹊桥需要 Node 20\.19 或更新的版本，现在是 18\.20\.8。.*nodejs\.org/);
});

test('what must be installed where nobody may write says so, and what to do', async () => {
  const folder = scratchFolder('rights');
  mkdirSync(path.join(folder, 'scripts'));
  for (const name of ['start.mjs', 'stale.mjs', 'optional-packages.mjs'])
    copyFileSync(path.join('scripts', name), path.join(folder, 'scripts', name));
  // Left by a start that was killed.
  writeFileSync(path.join(folder, '.stamp-preparing'), '999999');
  chmodSync(folder, 0o555);
  // Root may write everywhere.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { out, err, code } = await ended([path.join(folder, 'scripts', 'start.mjs')], {}, nobody);
  expect({ out, code }).toEqual({ out: '', code: 1 });
  expect(err).toMatch(/^需要安装或构建，但没有写入 .* 的权限：.*再运行一次。\n$/);
  chmodSync(folder, 0o755);
  rmSync(folder, { recursive: true, force: true });
});

test('what is wrong around a server that can run is said at its start', async () => {
  const databaseUrl = await makeDatabase();
  const first = await startServer({ databaseUrl, env: { OPENAI_API_KEY: 'sk-x' } });
  await first.stop();
  const second = await startServer({
    databaseUrl,
    env: {
      SECRET_KEY: 'another',
      TRUST_PROXI: 'loopback',
      LOCAL_MODEL: 'qwen3',
      S3_ENDPOINT: 'http://127.0.0.1:9',
      S3_BUCKET: 'bucket',
    },
  });
  const manager = new TestClient(second.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const { list } = await manager.call('channelList', {});
  expect(list.filter((channel) => channel.last_error.includes('密钥打不开'))).toHaveLength(1);
  await second.stop();
  expect(second.log()).toMatch(/注意：.*SECRET_KEY.*打不开 1 个/);
  expect(second.log()).toMatch(/注意：.*TRUST_PROXI.*TRUST_PROXY/);
  expect(second.log()).toMatch(/注意：LOCAL_MODEL 的 qwen3 不在货架上.*qwen3-0\.6b/);
  expect(second.log()).toMatch(/注意：对象存储用不了/);
});

test('supervisors learn that the process lives, load balancers that its database does not', async () => {
  const server = await startServer({ alone: true, env: { DRAIN_NOTICE_SECONDS: '0' } });
  const probe = (path: string) => statusOf(`${server.baseURL}${path}`);
  for (const path of ['/livez', '/healthz', '/api/health/live', '/readyz', '/api/health/ready'])
    expect(await probe(path), path).toBe(200);
  const cluster = new URL(server.databaseUrl);
  const name = cluster.pathname.slice(1);
  cluster.pathname = '/postgres';
  const owner = new pg.Client({ connectionString: cluster.href });
  await owner.connect();
  await owner.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await owner.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
    name,
  ]);
  await expect.poll(() => probe('/readyz')).toBe(503);
  expect(await probe('/livez')).toBe(200);
  await owner.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await expect.poll(() => probe('/readyz')).toBe(200);
  await owner.end();
  await server.stop();
});

test('a server whose npm ends without a word ends, too', async () => {
  const port = await freePort();
  const dataDir = scratchFolder('npm');
  // As npm starts it: by a shell that does not pass signals on.
  const shell = spawn('sh', ['-c', `"${process.execPath}" ${main}; true`], {
    env: {
      PATH: process.env['PATH'],
      npm_lifecycle_event: 'start',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      DATABASE_URL: await makeDatabase(),
      LOCAL_MODELS: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const baseURL = `http://127.0.0.1:${port}`;
  const printed = await untilAnswering(shell, baseURL);
  shell.kill('SIGTERM');
  await expect.poll(() => statusOf(`${baseURL}/livez`), { timeout: 20_000 }).toBe(0);
  expect(printed()).toContain('正在停止');
  rmSync(dataDir, { recursive: true, force: true });
});

test('at a terminal what is wrong is said in a line, and nothing in JSON', async ({ skip }) => {
  // Of util-linux.
  const inTerminal = 'script';
  skip(spawnSync(inTerminal, ['--version']).status !== 0, 'no program makes a terminal here');
  const port = await freePort();
  const dataDir = scratchFolder('terminal');
  const start = `"${process.execPath}" scripts/start.mjs`;
  const terminal = spawn(inTerminal, ['--quiet', '--flush', '--return', '-c', start, '/dev/null'], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      DATABASE_URL: await makeDatabase(),
      LOCAL_MODELS: 'off',
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
      OPENAI_API_KEY: 'sk-test',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const baseURL = `http://127.0.0.1:${port}`;
  const printed = await untilAnswering(terminal, baseURL);
  await expect.poll(printed, { timeout: 20_000 }).toMatch(/^\d\d:\d\d:\d\d warn: .*ECONNREFUSED/m);
  expect(printed()).not.toMatch(/^\s*[{[]/m);
  terminal.stdin.write('\u0003');
  await expect.poll(() => statusOf(`${baseURL}/livez`), { timeout: 20_000 }).toBe(0);
  rmSync(dataDir, { recursive: true, force: true });
});

describe('a process that is replaced', () => {
  let mock: MockOpenAi;
  beforeAll(async () => {
    mock = await startMockOpenAi();
  });
  afterAll(() => mock.close());
  const channel = () => ({
    OPENAI_BASE_URL: mock.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'mock-chat',
    SECRET_KEY: 'one-key-for-both',
    DRAIN_NOTICE_SECONDS: '2',
  });

  test('serves on while load balancers learn of it, and lets long answers end', async () => {
    const databaseUrl = await makeDatabase();
    const old = await startServer({ alone: true, databaseUrl, env: channel() });
    const next = await startServer({ alone: true, databaseUrl, env: channel() });
    const person = await TestClient.register(old.baseURL);
    expect(await statusOf(`${old.baseURL}/readyz`)).toBe(200);
    // Longer than a process that serves alone lets an answer go on.
    const { uuid, id } = await person.ask('[[bench tokens=130 rate=10 id=long]]', {
      model: 'mock-chat',
    });
    const reading = person.read(uuid, id);
    await sleep(500);
    const stopped = old.stop();
    await expect.poll(() => statusOf(`${old.baseURL}/readyz`)).toBe(503);
    await person.call('userInfo', {});
    const { text, done } = joined(await reading);
    expect(done).toBe(true);
    expect(text.endsWith('END-long-DONE')).toBe(true);
    await stopped;
    expect(await old.exited).toBe(0);
    const { list } = await new TestClient(next.baseURL, person.token).call('historyList', {
      session_id: uuid,
    });
    expect(list[0]).toMatchObject({ state: 'done', ai: text });
    await next.stop();
  }, 60_000);

  test('cuts what takes longer than it may, and says so', async () => {
    const databaseUrl = await makeDatabase();
    const server = await startServer({
      alone: true,
      databaseUrl,
      env: { ...channel(), DRAIN_SECONDS: '1' },
    });
    const person = await TestClient.register(server.baseURL);
    const { uuid, id } = await person.ask('[[bench tokens=400 rate=10 id=cut]]', {
      model: 'mock-chat',
    });
    const reading = person.read(uuid, id);
    await sleep(500);
    await server.stop();
    expect(joined(await reading).error).not.toBeNull();
    const again = await startServer({ alone: true, databaseUrl, env: channel() });
    const { list } = await new TestClient(again.baseURL, person.token).call('historyList', {
      session_id: uuid,
    });
    expect(list[0]?.state).toBe('interrupted');
    expect(list[0]?.ai).not.toBe('');
    await again.stop();
  });
});
