import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  chown,
  constants,
  lstat,
  mkdir,
  open,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import pg from 'pg';
import type { Binaries } from './embedded-binaries.ts';
import { findBinaries } from './embedded-binaries.ts';
import { modeFile, modes, watchDisk } from './embedded-disk-guard.ts';
import type { Place } from './embedded-place.ts';
import { exists, findPlace, hasCode } from './embedded-place.ts';
import { databaseFailure } from './failure.ts';
import { StartupError } from './startup-error.ts';

/**
 * The embedded database: PostgreSQL's real binaries, run beside the servers that use it.
 *
 * Nothing guards a start but PostgreSQL itself, which lets only one postmaster into a data folder:
 * whoever starts connects to the one that runs, or else starts it and connects; of two that start
 * it at once, one loses and connects to the winner's. Each server holds a shared lock through a
 * connection of its own; the server that on leaving finds nobody else holding it stops the
 * database. One that was killed leaves the database running, for the next start to find.
 */
export interface Embedded {
  connectionString: string;
  /** Leaves the database, and stops it when no other server uses it. */
  leave: () => Promise<void>;
}

/** Held shared by every server; nothing else in the database may lock this number. */
const presenceLock = 4_715_000;
const socketPort = 5432;
/** How long a running database may take to let us in before it is given up, ms. */
const patience = 10 * 60_000;
const cleanEnvironment = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };

/** Small: few processes, little memory; and safe: nothing acknowledged is lost. */
const configuration = (socketFolder: string): string[] =>
  Object.entries({
    listen_addresses: '',
    port: String(socketPort),
    unix_socket_directories: `"${socketFolder}"`,
    unix_socket_permissions: '0700',
    max_connections: '100',
    shared_buffers: '48MB',
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    effective_cache_size: '512MB',
    io_method: 'sync',
    jit: 'off',
    huge_pages: 'off',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    wal_level: 'minimal',
    max_wal_senders: '0',
    wal_compression: 'on',
    min_wal_size: '64MB',
    max_wal_size: '256MB',
    random_page_cost: '1.1',
    autovacuum_max_workers: '2',
    max_worker_processes: '2',
    max_parallel_workers: '0',
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',
    max_logical_replication_workers: '0',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Errors of statements are the server's to log; here they would carry people's texts.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    checkpoint_warning: '0',
    log_line_prefix: '%m [%p] ',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

const runTool = (binaries: Binaries, place: Place, tool: string, args: string[], input = '') => {
  const result = spawnSync(join(binaries.folder, tool), args, {
    ...place.runAs,
    cwd: '/',
    env: cleanEnvironment,
    encoding: 'utf8',
    input,
  });
  if (result.status !== 0) {
    throw new Error(`${tool}: ${result.error?.message ?? result.stderr.trim()}`);
  }
};

/** Makes the database in a draft folder and moves it into place, so that it is there whole or not at all. */
const create = async (binaries: Binaries, place: Place): Promise<void> => {
  const draft = `${place.data}.${randomUUID()}`;
  try {
    const locale = '--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8';
    runTool(binaries, place, 'initdb', [
      `--pgdata=${draft}`,
      '--username=postgres',
      '--auth=reject',
      ...locale.split(' '),
    ]);
    // Enough bits that slow hashing adds nothing: one round keeps connecting quick.
    const password = randomBytes(32).toString('hex');
    runTool(
      binaries,
      place,
      'postgres',
      ['--single', '-D', draft, '-c', 'scram_iterations=1', 'postgres'],
      `CREATE ROLE queqiao LOGIN CREATEDB PASSWORD '${password}'\nCREATE DATABASE queqiao OWNER queqiao\n`,
    );
    const files = {
      'queqiao.password': `${password}\n`,
      'pg_hba.conf': 'local all queqiao scram-sha-256\n',
      'postgresql.conf': `include '${modeFile}'\n`,
      [modeFile]: modes.writable,
    };
    for (const [name, text] of Object.entries(files)) {
      const path = join(draft, name);
      await writeFile(path, text, { mode: 0o600 });
      if (place.runAs) await chown(path, place.runAs.uid, place.runAs.gid);
    }
    await rename(draft, place.data);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
};

/**
 * The folder of the database's socket: short, because a socket's path may have 107 bytes at most
 * and DATA_DIR may be deep; on a local disk, because not every shared one takes sockets; named
 * after the password, so that nobody else can make it first.
 */
const socketFolderOf = (password: string): string => {
  const name = `queqiao-${createHash('sha256').update(password).digest('hex').slice(0, 16)}`;
  return join(process.platform === 'linux' ? '/tmp' : tmpdir(), name);
};

const makeSocketFolder = async (folder: string, place: Place): Promise<void> => {
  const uid = place.runAs?.uid ?? process.getuid?.();
  try {
    await mkdir(folder, { mode: 0o700 });
    if (place.runAs) await chown(folder, place.runAs.uid, place.runAs.gid);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    const found = await lstat(folder);
    if (!found.isDirectory() || found.uid !== uid) {
      throw new StartupError(`${folder} 属于别的用户，数据库的套接字不能放在那里。请删除它。`);
    }
  }
};

interface Postmaster {
  pid: number;
  ready: boolean;
}

/** Reads postmaster.pid (its lines: pid, folder, start, port, socket folder, address, memory, state). */
const readPostmaster = async (place: Pick<Place, 'data'>): Promise<Postmaster | null> => {
  try {
    const lines = (await readFile(join(place.data, 'postmaster.pid'), 'utf8')).split('\n');
    const pid = Number(lines[0]);
    return pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready' } : null;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
};

/** Whether that process is this folder's postmaster, and not another that was given its number. */
const isPostmaster = async (pid: number, place: Pick<Place, 'data'>): Promise<boolean> => {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'stat=,comm=', '-p', String(pid)], {
      encoding: 'utf8',
    });
    return stdout.includes('postgres') && !stdout.trimStart().startsWith('Z');
  }
  try {
    // A zombie has no command line left.
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    if (!command.includes('postgres')) return false;
    return (await readlink(`/proc/${pid}/cwd`)) === place.data;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return false;
    throw error;
  }
};

const signal = async (place: Pick<Place, 'data'>, name: NodeJS.Signals): Promise<number | null> => {
  const postmaster = await readPostmaster(place);
  if (!postmaster || !(await isPostmaster(postmaster.pid, place))) return null;
  process.kill(postmaster.pid, name);
  return postmaster.pid;
};

/**
 * After a crash, postmaster.pid may name a process that now is something else (in a container the
 * numbers soon come again), and PostgreSQL would not start. Only the number is replaced, by one that
 * no process can have: the rest lets PostgreSQL find orphans of the crash by itself.
 */
const disownNumber = async (place: Place): Promise<void> => {
  const path = join(place.data, 'postmaster.pid');
  try {
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(/^\d+/, '2147483646'));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
};

class Cluster {
  readonly #place: Place;
  readonly #binaries: Binaries;
  readonly #log: FastifyBaseLogger;
  readonly #password: string;
  readonly #socketFolder: string;
  /** The postmaster that this process is starting, until it has ended. */
  #child: { failed: boolean } | null = null;

  constructor(place: Place, binaries: Binaries, password: string, log: FastifyBaseLogger) {
    this.#place = place;
    this.#binaries = binaries;
    this.#log = log;
    this.#password = password;
    this.#socketFolder = socketFolderOf(password);
  }

  get connectionString(): string {
    const host = encodeURIComponent(this.#socketFolder);
    return `postgresql://queqiao:${this.#password}@${host}:${socketPort}/queqiao`;
  }

  /** Connects to the database, starting it when it does not run. Tries until told to stop. */
  async connect(stop: AbortSignal): Promise<pg.Client> {
    const since = Date.now();
    let failures = 0;
    let unreachableSince: number | null = null;
    let saidAt = since;
    for (;;) {
      const client = new pg.Client({
        connectionString: this.connectionString,
        application_name: 'queqiao-presence',
        connectionTimeoutMillis: 10_000,
        keepAlive: true,
      });
      // An error after connecting also ends the client; whoever holds it listens for that.
      client.on('error', () => {});
      try {
        await client.connect();
        return client;
      } catch (error) {
        await client.end().catch(() => {});
        if (!databaseFailure(error)) throw error;
        unreachableSince = hasCode(error, 'ENOENT') ? (unreachableSince ?? Date.now()) : null;
      }
      stop.throwIfAborted();
      if (this.#child?.failed) {
        this.#child = null;
        failures += 1;
        if (failures >= 5) throw new Error(await this.#explain());
        await sleep(200 * failures, undefined, { signal: stop });
      }
      const postmaster = await readPostmaster(this.#place);
      const running = postmaster && (await isPostmaster(postmaster.pid, this.#place));
      if (!running && !this.#child) {
        if (postmaster) await disownNumber(this.#place);
        await this.#start();
      } else if (running && postmaster.ready && unreachableSince !== null) {
        // It runs, but somebody swept its socket away; it makes a new one when it starts anew.
        if (Date.now() - unreachableSince > 15_000) {
          this.#log.warn('the socket of the database is gone: it is started again');
          process.kill(postmaster.pid, 'SIGINT');
          unreachableSince = null;
        }
      }
      if (Date.now() - since > patience) throw new Error(await this.#explain());
      if (Date.now() - saidAt > 10_000) {
        saidAt = Date.now();
        this.#log.info('still waiting for the database: recovery after a crash may take a while');
      }
      await sleep(20, undefined, { signal: stop });
    }
  }

  /** Asks the postmaster to end and waits for it. */
  async stop(): Promise<void> {
    const pid = await signal(this.#place, 'SIGINT');
    if (pid === null) return;
    for (const until = Date.now() + 30_000; Date.now() < until; await sleep(20)) {
      if (!(await isPostmaster(pid, this.#place))) return;
    }
    this.#log.warn({ pid }, 'the database did not stop within 30 seconds');
  }

  async #start(): Promise<void> {
    await makeSocketFolder(this.#socketFolder, this.#place);
    const logPath = join(this.#place.home, 'postgres.log');
    if ((await exists(logPath)) && (await stat(logPath)).size > 4_000_000) {
      await rename(logPath, `${logPath}.old`);
    }
    // The folder belongs to the database's user: what lies there is not followed elsewhere.
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
    const logFile = await open(logPath, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
    try {
      const child = spawn(
        join(this.#binaries.folder, 'postgres'),
        ['-D', this.#place.data, ...configuration(this.#socketFolder)],
        {
          ...this.#place.runAs,
          cwd: '/',
          env: cleanEnvironment,
          // In a session of its own: Ctrl+C in the terminal is for the servers to hear.
          detached: true,
          stdio: ['ignore', logFile.fd, logFile.fd],
        },
      );
      const state = { failed: false };
      this.#child = state;
      const ended = (failed: boolean) => {
        state.failed = failed;
        if (!failed && this.#child === state) this.#child = null;
      };
      child.on('error', () => ended(true));
      child.on('exit', (code) => ended(code !== 0));
      child.unref();
    } finally {
      await logFile.close();
    }
  }

  async #explain(): Promise<string> {
    const path = join(this.#place.home, 'postgres.log');
    const text = await readFile(path, 'utf8').catch(() => '');
    const tail = text.trimEnd().split('\n').slice(-8).join('\n');
    return `数据库没有启动成功。它的记录（${path}）的末尾：\n${tail}`;
  }
}

const readPassword = async (place: Place): Promise<string> => {
  try {
    return (await readFile(join(place.data, 'queqiao.password'), 'utf8')).trim();
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    throw new StartupError(
      `没有读取数据库 ${place.data} 的权限。请换用建立它的用户启动，或用 DATA_DIR 指定另一个文件夹。`,
    );
  }
};

/** A database is bound to the major version of PostgreSQL that made it. */
const checkVersion = async (binaries: Binaries, place: Place): Promise<void> => {
  const made = (await readFile(join(place.data, 'PG_VERSION'), 'utf8')).trim();
  if (made !== binaries.major) {
    throw new StartupError(
      `数据库 ${place.data} 由 PostgreSQL ${made} 建立，而内置的是 ${binaries.major}，不能直接打开。\n` +
        `请用 PostgreSQL ${made} 导出（pg_dump），再导入新的数据库。`,
    );
  }
};

/** Finds, makes or starts the embedded database of this DATA_DIR and joins those who use it. */
export const joinEmbedded = async (dataDir: string, log: FastifyBaseLogger): Promise<Embedded> => {
  const place = await findPlace(dataDir);
  const binaries = await findBinaries(place);
  for (const home of place.forgotten) {
    log.warn(
      { folder: home },
      'a former database is left whose DATA_DIR was deleted: remove it if it is not wanted',
    );
    await signal({ data: join(home, 'data') }, 'SIGINT');
  }
  if (place.isNew) {
    log.info({ folder: place.home }, 'making the database');
    await create(binaries, place);
  }
  const password = await readPassword(place);
  await checkVersion(binaries, place);
  log.info(
    { folder: place.home, uid: place.runAs?.uid ?? process.getuid?.() },
    'where the database is',
  );

  const cluster = new Cluster(place, binaries, password, log);
  const leaving = new AbortController();
  const guard = watchDisk(place.data, async () => void (await signal(place, 'SIGHUP')), log);
  let presence: pg.Client | null = null;

  /** Connects, again and again when it must, and keeps watch: a database that fell is set up again. */
  const enter = async (): Promise<void> => {
    for (;;) {
      const client = await cluster.connect(leaving.signal);
      try {
        await client.query('SELECT pg_advisory_lock_shared($1)', [presenceLock]);
      } catch (error) {
        // The last server that used it is just stopping it.
        await client.end().catch(() => {});
        if (!databaseFailure(error)) throw error;
        continue;
      }
      presence = client;
      client.once('end', () => {
        presence = null;
        if (!leaving.signal.aborted) void comeBack();
      });
      return;
    }
  };
  const comeBack = async (): Promise<void> => {
    log.warn('the connection to the database broke and is restored');
    for (let pause = 100; !leaving.signal.aborted; pause = Math.min(pause * 2, 5000)) {
      try {
        await enter();
        log.info('the database is back');
        return;
      } catch (error) {
        if (leaving.signal.aborted) return;
        log.error({ err: error }, 'the database is not back yet and is tried again');
        await sleep(pause, undefined, { signal: leaving.signal }).catch(() => {});
      }
    }
  };
  await guard.look();
  await enter();

  const leave = async (): Promise<void> => {
    const client = presence;
    leaving.abort();
    guard.end();
    if (!client) return;
    try {
      await client.query('SELECT pg_advisory_unlock_shared($1)', [presenceLock]);
      const { rows } = await client.query<{ alone: boolean }>(
        'SELECT pg_try_advisory_lock($1) AS alone',
        [presenceLock],
      );
      if (rows[0]?.alone) await cluster.stop();
    } catch (error) {
      if (!databaseFailure(error)) throw error;
    } finally {
      await client.end().catch(() => {});
    }
  };
  return { connectionString: cluster.connectionString, leave };
};
