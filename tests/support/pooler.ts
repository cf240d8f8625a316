import { spawn } from 'node:child_process';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answersAt, freePort } from './free-port.ts';
import { scratchFolder } from './scratch.ts';

/** Debian's PgBouncer; elsewhere what stands behind it is not tried. */
export const pgbouncer = '/usr/sbin/pgbouncer';

/**
 * Starts PgBouncer in transaction mode before a database. Gives the address through it.
 * @param connections that it holds to PostgreSQL at most
 */
export const startPooler = async (databaseUrl: string, connections: number) => {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const socketFolder = decodeURIComponent(hostname);
  const folder = scratchFolder('pooler');
  const own = await freePort();
  const file = path.join(folder, 'pgbouncer.ini');
  const secret = password ? `password=${decodeURIComponent(password)}` : '';
  writeFileSync(
    file,
    `[databases]
* = host=${socketFolder} port=${port} user=${username} ${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 500
`,
  );
  // It refuses to run as root, and the socket of the embedded database admits its owner alone.
  const { uid, gid } = socketFolder.startsWith('/')
    ? statSync(path.join(socketFolder, `.s.PGSQL.${port}`))
    : { uid: process.getuid?.() || 65_534, gid: process.getgid?.() || 65_534 };
  chownSync(folder, uid, gid);
  const child = spawn(pgbouncer, [file], { stdio: 'ignore', uid, gid });
  while (!(await answersAt(own))) {
    if (child.exitCode !== null) throw new Error('PgBouncer ended at its start');
    await sleep(50);
  }
  return {
    databaseUrl: `postgres://${username}@127.0.0.1:${own}${pathname}`,
    close: () => child.kill('SIGTERM'),
  };
};
