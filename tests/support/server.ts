import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { quickFetch } from './client.ts';
import { freePort } from './free-port.ts';
import { scratchFolder } from './scratch.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundle = path.join(root, 'dist/server/main.js');
const hostProgram = path.join(root, 'tests/support/server-host.mjs');
const quickPasswords = path.join(root, 'tests/support/quick-passwords.cjs');

export const ADMIN_PASSWORD = 'admin-password-of-tests';

export interface ServerOptions {
  /** More environment; overrides what is set here. */
  env?: Record<string, string>;
  /** Uses the embedded database in the server's own data folder instead of the tests' shared one. */
  embedded?: boolean;
  /** An existing data folder, kept after stop(). */
  dataDir?: string;
  /** An existing database, such as another TestServer's `databaseUrl`. */
  databaseUrl?: string;
  port?: number;
  /** What is run instead of the built server of this checkout. */
  main?: string;
  /** Passwords are hashed as slowly as anywhere, where that time is what is tried. */
  slowPasswords?: boolean;
  /** How long it may take to answer, ms. */
  startTimeout?: number;
  /** In a new process, where its start, its end or what it holds is what is tried. */
  alone?: boolean;
}

export interface TestServer {
  baseURL: string;
  port: number;
  pid: number;
  dataDir: string;
  /** Empty with the embedded database. */
  databaseUrl: string;
  /** Everything that the server printed so far. */
  log(): string;
  /** Ends it as an operator would (SIGTERM), waits, and removes a data folder it made. */
  stop(): Promise<void>;
  kill9(): Promise<void>;
  /** A promise of the exit code. */
  exited: Promise<number | null>;
}

const template = 'template_of_tests';

/** Makes a database in the cluster that globalSetup started. Gives its address. */
const createDatabase = async (name: string, like: string): Promise<string> => {
  const cluster = process.env['TEST_CLUSTER_URL'];
  if (!cluster) throw new Error('TEST_CLUSTER_URL is not set: run through vitest or playwright');
  const client = new pg.Client({ connectionString: cluster });
  await client.connect();
  // Its pages need not pass through the log, packed one by one.
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${like} STRATEGY file_copy`);
  await client.end();
  const url = new URL(cluster);
  url.pathname = `/${name}`;
  return url.href;
};

/**
 * Makes a database as a server leaves it that was started once: migrated, and with the first
 * administrator. Migrating anew is tried where the embedded database is.
 */
export const makeDatabase = (): Promise<string> =>
  createDatabase(`t_${randomBytes(8).toString('hex')}`, template);

/** An empty database, as an operator makes it. */
export const makeEmptyDatabase = (): Promise<string> =>
  createDatabase(`t_${randomBytes(8).toString('hex')}`, 'template0');

/** What a server of the tests is told; more environment comes on top. */
const baseEnv = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  LANG: process.env['LANG'],
  HOST: '127.0.0.1',
  ADMIN_PASSWORD,
  // One address stands for many people here.
  FREE_REGISTRATIONS: '1000000',
  CREDENTIALS_LIMIT: '1000000',
  MESSAGES_LIMIT: '1000000',
  CANVAS_SECONDS: '0',
  FILM_SECONDS: '1',
  LOCAL_MODELS: 'off',
};

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.once('exit', (code) => resolve(code));
  });

/**
 * Waits until a server that was just spawned answers. Gives what shows what it printed so far.
 * @throws Error with that, when it ends or does not answer in time (ms).
 */
export const untilAnswering = async (
  child: ChildProcess,
  baseURL: string,
  timeout = 45_000,
): Promise<() => string> => {
  let printed = '';
  const fail = (what: string) => {
    child.kill('SIGKILL');
    throw new Error(`the server ${what}:\n${printed}`);
  };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeout);
  // Asked again and again, it would take a tenth more of the processor for its start.
  await new Promise<void>((resolve) => {
    const keep = (chunk: string) => {
      printed = (printed + chunk).slice(-200_000);
      if (printed.includes('鹊桥已启动')) resolve();
    };
    child.stdout?.setEncoding('utf8').on('data', keep);
    child.stderr?.setEncoding('utf8').on('data', keep);
    child.once('exit', () => resolve());
    late.signal.addEventListener('abort', () => resolve());
  });
  while (!late.signal.aborted) {
    if (child.exitCode !== null || child.signalCode !== null) fail('ended at its start');
    const health = quickFetch(`${baseURL}/api/health`, { method: 'GET', headers: {} });
    const status = await health.then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) break;
    await sleep(50);
  }
  clearTimeout(timer);
  if (late.signal.aborted) fail('does not answer');
  return () => printed;
};

/** A process that serves one server after another. */
interface Host {
  child: ChildProcess;
  exited: Promise<number | null>;
  isRunning: () => boolean;
  /** How many servers it began. */
  served: () => number;
  /** What it printed since its present server began. */
  log: () => string;
  /** Starts a server from an environment. @throws Error with what it printed, when that fails */
  start: (env: NodeJS.ProcessEnv, timeout: number) => Promise<void>;
  /** Ends its server; it may serve another then. */
  stop: () => Promise<void>;
}

const openHost = (): Host => {
  const child = spawn(process.execPath, ['--require', quickPasswords, hostProgram], {
    cwd: root,
    env: { PATH: baseEnv.PATH, HOME: baseEnv.HOME, LANG: baseEnv.LANG },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // Whoever started it may end while it is idle; it follows.
  child.unref();
  child.channel?.unref();
  for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.unref();
  let printed = '';
  const keep = (chunk: string) => (printed = (printed + chunk).slice(-200_000));
  child.stdout?.setEncoding('utf8').on('data', keep);
  child.stderr?.setEncoding('utf8').on('data', keep);
  let running = true;
  let served = 0;
  const exited = ended(child);
  void exited.then(() => (running = false));
  const tell = (message: NodeJS.ProcessEnv | 'stop') =>
    new Promise<boolean>((resolve) => {
      child.once('message', () => resolve(true));
      void exited.then(() => resolve(false));
      child.send(message, () => undefined);
    });
  return {
    child,
    exited,
    isRunning: () => running,
    served: () => served,
    log: () => printed,
    start: async (env, timeout) => {
      printed = '';
      served += 1;
      const late = setTimeout(() => child.kill('SIGKILL'), timeout);
      const done = await tell(env);
      clearTimeout(late);
      if (!done) throw new Error(`the server ended at its start:\n${printed}`);
    },
    stop: async () => {
      await tell('stop');
    },
  };
};

const idleHosts: Host[] = [];
/** A leak of many servers would slow those that come after. */
const mostServed = 30;

const takeHost = (): Host => {
  for (let host = idleHosts.pop(); host; host = idleHosts.pop()) if (host.isRunning()) return host;
  return openHost();
};

const putBack = (host: Host): void => {
  if (host.isRunning() && host.served() < mostServed) idleHosts.push(host);
  else host.child.kill('SIGKILL');
};

/**
 * Starts the shipped server in a process that nothing else uses meanwhile, and waits until it answers.
 * @throws Error with what it printed, when it ends or does not answer in time.
 */
export const startServer = async (options: ServerOptions = {}): Promise<TestServer> => {
  const main = options.main ?? bundle;
  if (!existsSync(main)) throw new Error(`${main} is missing: npm run build`);
  const ownDir = options.dataDir === undefined;
  const dataDir = options.dataDir ?? scratchFolder('test');
  const port = options.port ?? (await freePort());
  const databaseUrl = options.embedded ? '' : (options.databaseUrl ?? (await makeDatabase()));
  const env = {
    ...baseEnv,
    PORT: String(port),
    DATA_DIR: dataDir,
    ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    ...options.env,
  };
  const baseURL = `http://127.0.0.1:${port}`;
  const timeout = options.startTimeout ?? 45_000;
  const removeDir = () => {
    if (ownDir) rmSync(dataDir, { recursive: true, force: true });
  };
  const same = { baseURL, port, dataDir, databaseUrl };
  if (!options.alone && !options.embedded && !options.main && !options.slowPasswords) {
    const host = takeHost();
    await host.start(env, timeout);
    let serving = true;
    return {
      ...same,
      pid: host.child.pid ?? 0,
      log: host.log,
      exited: host.exited,
      kill9: async () => {
        serving = false;
        host.child.kill('SIGKILL');
        await host.exited;
      },
      stop: async () => {
        if (serving && host.isRunning()) {
          await host.stop();
          putBack(host);
        }
        serving = false;
        removeDir();
      },
    };
  }
  const hashing = options.slowPasswords ? [] : ['--require', quickPasswords];
  const child = spawn(process.execPath, [...hashing, main], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = ended(child);
  let running = true;
  void exited.then(() => (running = false));
  const log = await untilAnswering(child, baseURL, timeout);

  const end = async (signal: NodeJS.Signals) => {
    if (running) {
      child.kill(signal);
      await exited;
    }
  };
  return {
    ...same,
    pid: child.pid ?? 0,
    log,
    exited,
    kill9: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGTERM');
      removeDir();
    },
  };
};

/** Makes what `makeDatabase` copies. */
export const makeTemplate = async (): Promise<void> => {
  const databaseUrl = await createDatabase(template, 'template0');
  // Beside other work a first start takes its time, and without it no test runs.
  await (await startServer({ databaseUrl, startTimeout: 240_000 })).stop();
};
