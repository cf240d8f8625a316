import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '#tests/support/free-port.ts';
import { nginx, startNginx } from '#tests/support/nginx.ts';
import { pgbouncer, startPooler } from '#tests/support/pooler.ts';
import { hasPostgres, makeCluster } from '#tests/support/postgres-pair.ts';
import { scratchFolder } from '#tests/support/scratch.ts';
import { startServer, type TestServer } from '#tests/support/server.ts';
import { redisServer, startValkey } from '#tests/support/valkey.ts';

/** A line of a process's log. */
interface Complaint {
  level: number;
  msg: string;
  err?: { message: string };
}

/**
 * Server processes as on a page of docs/many-machines.md: Debian's nginx, PgBouncer in transaction
 * mode, PostgreSQL 15 and Redis, all on this machine, and one service for their answers.
 * @throws Error when one of these programs is missing
 */
export const startPlace = async (
  upstreamURL: string,
  processes: number,
  env: Record<string, string> = {},
) => {
  for (const program of [nginx, pgbouncer, redisServer])
    if (!existsSync(program)) throw new Error(`${program} is missing: see apt-get install`);
  if (!hasPostgres) throw new Error('PostgreSQL 15 is missing: apt-get install postgresql-15');
  const folder = scratchFolder('place');
  const cluster = await makeCluster(folder, 'shared_buffers = 256MB\nmax_wal_size = 1GB\n');
  cluster.start();
  const directUrl = `postgres://queqiao@127.0.0.1:${cluster.port}/postgres`;
  const pooler = await startPooler(directUrl, 20);
  const valkey = await startValkey();
  const ports = await Promise.all(Array.from({ length: processes }, freePort));
  const start = (at: number): Promise<TestServer> =>
    startServer({
      alone: true,
      databaseUrl: pooler.databaseUrl,
      dataDir: path.join(folder, 'data'),
      port: ports[at]!,
      startTimeout: 180_000,
      env: {
        DATABASE_DIRECT_URL: directUrl,
        VALKEY_URL: valkey.url,
        SECRET_KEY: 'one-key-for-all',
        TRUST_PROXY: 'loopback',
        OPENAI_BASE_URL: `${upstreamURL}/v1`,
        OPENAI_API_KEY: 'sk-load',
        OPENAI_MODELS: 'load',
        SIGNUP_TOKENS: '1000000000',
        RATE_LIMIT: '1000000000',
        UPGRADE_BACKUP: 'off',
        LOG_LEVEL: 'warn',
        ...env,
      },
    });
  const servers: TestServer[] = [];
  const ended: TestServer[] = [];
  for (let at = 0; at < processes; at += 1) servers.push(await start(at));
  const front = await startNginx(folder, ports);
  return {
    servers,
    front: front.baseURL,
    directUrl,
    nginxPid: front.pid,
    folder,
    /** Puts a new process in the place of one that has ended. */
    replace: async (at: number): Promise<void> => {
      ended.push(servers[at]!);
      servers[at] = await start(at);
    },
    /** What the processes and nginx complained of, each kind once. */
    complaints: (): string[] => {
      const lines = [...ended, ...servers].flatMap((server) => server.log().split('\n'));
      const kinds = lines.flatMap((line) => {
        if (!line.startsWith('{')) return [];
        const { level, msg, err } = JSON.parse(line) as Complaint;
        return level < 40 ? [] : [`${level} ${msg}: ${err?.message ?? ''}`];
      });
      const errors = readFileSync(front.errors, 'utf8').match(/\d+#.*?(?=, client)/g) ?? [];
      return [...new Set([...kinds, ...errors.map((line) => line.replace(/^.*\*\d+ /, ''))])];
    },
    stop: async (): Promise<void> => {
      front.stop();
      await Promise.all(servers.map((server) => server.stop()));
      await valkey.kill9();
      pooler.close();
      cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
