import { spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, mkdirSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { freePort } from './free-port.ts';

/** Debian's PostgreSQL, which the embedded one has not all the programs of. */
export const postgresPrograms = '/usr/lib/postgresql/15/bin';
export const hasPostgres = existsSync(path.join(postgresPrograms, 'pg_basebackup'));

/** PostgreSQL refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const run = (program: string, ...args: string[]): void => {
  const { status, stderr } = spawnSync(path.join(postgresPrograms, program), args, {
    ...nobody,
    encoding: 'utf8',
    // What it starts keeps no pipe of ours open.
    stdio: ['ignore', 'ignore', program === 'pg_ctl' ? 'ignore' : 'pipe'],
  });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
};

export interface Cluster {
  port: number;
  start: () => void;
  /** Ends it without a word to anybody, as a power cut would. */
  stop: () => void;
  promote: () => void;
}

const clusterIn = (data: string, port: number): Cluster => {
  const control = (...args: string[]): void => run('pg_ctl', '-D', data, '-w', ...args);
  return {
    port,
    start: () => control('start', '-l', `${data}.log`),
    stop: () => control('stop', '-m', 'immediate'),
    promote: () => control('promote'),
  };
};

const settings = (port: number): string => `
port = ${port}
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 60
shared_buffers = 32MB
wal_level = replica
min_wal_size = 32MB
max_wal_size = 64MB
`;

/** A cluster in a new folder below this one. `more`: lines of its configuration that come last. */
export const makeCluster = async (folder: string, more = ''): Promise<Cluster> => {
  const home = path.join(folder, 'first');
  mkdirSync(home, { recursive: true });
  if (nobody.uid !== undefined) chownSync(home, nobody.uid, nobody.gid);
  const data = path.join(home, 'data');
  run('initdb', '-D', data, '-U', 'queqiao', '--auth=trust', '--encoding=UTF8', '--locale=C', '-N');
  const port = await freePort();
  appendFileSync(path.join(data, 'postgresql.conf'), settings(port) + more);
  return clusterIn(data, port);
};

/** A standby of a cluster that runs; what is committed there is here, too. */
export const makeStandby = async (folder: string, of: Cluster): Promise<Cluster> => {
  const home = path.join(folder, 'second');
  mkdirSync(home);
  if (nobody.uid !== undefined) chownSync(home, nobody.uid, nobody.gid);
  const data = path.join(home, 'data');
  const from = `postgres://queqiao@127.0.0.1:${of.port}/postgres?application_name=standby`;
  run('pg_basebackup', '-D', data, '-R', '-X', 'stream', '-c', 'fast', '-d', from);
  const port = await freePort();
  appendFileSync(path.join(data, 'postgresql.conf'), settings(port));
  return clusterIn(data, port);
};

export type Way = 'open' | 'slow' | 'held';

/** One address before databases that take each other's place, on a line that can be spoiled. */
export const openAddress = async (port: number) => {
  const address = { port: 0, target: port, way: 'open' as Way, close: () => {} };
  const open = new Set<Socket>();
  const waiting = new Set<() => void>();
  /** What goes through in one direction, in its order. */
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => {
      const go = (): void => {
        if (!to.destroyed) to.write(chunk);
        from.resume();
      };
      if (address.way === 'open') return go();
      from.pause();
      if (address.way === 'slow') setTimeout(go, 100);
      else waiting.add(go);
    });
    from.on('close', () => {
      open.delete(from);
      to.destroy();
    });
    from.on('error', () => to.destroy());
  };
  const server = createServer((client) => {
    const behind = createConnection({ host: '127.0.0.1', port: address.target });
    open.add(client).add(behind);
    pass(client, behind);
    pass(behind, client);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address.port = (server.address() as AddressInfo).port;
  address.close = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  return {
    ...address,
    become: (way: Way): void => {
      address.way = way;
      if (way === 'held') return;
      for (const go of waiting) go();
      waiting.clear();
    },
    leadTo: (other: number): void => {
      address.target = other;
    },
  };
};
