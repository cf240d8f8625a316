import type { FastifyBaseLogger } from 'fastify';
import pg from 'pg';
import type { Database } from './database.ts';
import { openDatabase } from './database.ts';
import { databaseFailure, expectStandby, sqlState } from './failure.ts';
import { joinEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { PipelinedClient, type PipelinedConfig } from './pipelined-client.ts';
import { StartupError } from './startup-error.ts';

/** SQLSTATE admin_shutdown. */
const endedByAdministrator = '57P01';

export interface Connection {
  db: Database;
  pool: pg.Pool;
  /** Past any pooler: for connections of one's own, such as one that LISTENs. */
  connectionString: string;
  /** Connections that keep their session from one transaction to the next. */
  sessions: pg.Pool;
  /** Ends the pool and leaves the database; an embedded one stops with the last that leaves it. */
  close: () => Promise<void>;
}

/** How long the first connection may take, ms: a start that cannot work says so soon. */
const connectMs = 4_000;

interface DatabaseSettings {
  dataDir: string;
  /** Empty or missing: the embedded database below dataDir. */
  databaseUrl?: string | null;
  /** Past the pooler that `databaseUrl` leads to. */
  databaseDirectUrl?: string | null;
}

/** What ends statements and transactions that hang, ms. A pooler refuses them at a start. */
const timeouts = { statement_timeout: 30_000, idle_in_transaction_session_timeout: 60_000 };
/** An answer that comes not even then is given up: the way to the database is gone, ms. */
const answerMs = 35_000;

interface PoolOptions {
  connectionString: string;
  pooled?: boolean;
  /** Most connections at once. */
  max: number;
}

const openPool = (
  { connectionString, pooled = false, max }: PoolOptions,
  log: FastifyBaseLogger,
): pg.Pool => {
  const config: pg.PoolConfig & PipelinedConfig = {
    Client: PipelinedClient,
    pooled,
    max,
    connectionString,
    application_name: 'queqiao',
    // Memory goes back when nothing is going on.
    idleTimeoutMillis: 10_000,
    // Also the longest wait for a free one: hundreds of questions in one second take their turns.
    connectionTimeoutMillis: 15_000,
    ...(pooled ? {} : timeouts),
    keepAlive: true,
    query_timeout: answerMs,
  };
  const pool = new pg.Pool(config);
  // A connection that breaks while idle is replaced at its next use.
  // One that the database ended by itself, as it does when it stops, is nothing to look after; a
  // statement that was on its way then meets a closed socket.
  const broken = (error: Error): void => {
    if (sqlState(error) === endedByAdministrator) log.info('the database ended a connection');
    else if (databaseFailure(error) === 'unavailable')
      log.warn({ reason: error.message }, 'a connection to the database broke');
    else log.warn({ err: error }, 'a connection to the database broke');
  };
  pool.on('error', broken);
  // While it is lent out the pool does not listen.
  pool.on('connect', (client) => client.on('error', broken));
  return pool;
};

/** Opens a connection for `act` alone. @param setting names the setting that gives the address */
const withConnection = async <Result>(
  connectionString: string,
  setting: string,
  act: (client: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client({
    connectionString,
    application_name: 'queqiao-start',
    connectionTimeoutMillis: connectMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new StartupError(`连接不上数据库：${(error as Error).message}。请检查 ${setting}。`);
  }
  try {
    return await act(client);
  } finally {
    await client.end();
  }
};

/** A pooler gives its clients keys of its own, which name no process of PostgreSQL. */
export const isPooled = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== (client as unknown as { processID: number }).processID;
};

const refusePooler = async (client: pg.Client, setting: string): Promise<void> => {
  if (await isPooled(client))
    throw new StartupError(
      `${setting} 经过了连接池（如 PgBouncer）：迁移、通知与任务队列要直连 PostgreSQL，请在 DATABASE_DIRECT_URL 里填写直连的地址。`,
    );
};

/** What a pooler must be asked at a start, since its connections take no parameters of ours. */
const checkPooler = async (client: pg.Client, log: FastifyBaseLogger): Promise<void> => {
  const { rows } = await client.query<{ limit: string }>('SHOW statement_timeout');
  if (rows.every((row) => Object.values(row).includes('0')))
    log.warn(
      'statements behind the pooler have no timeout: ALTER ROLE … SET statement_timeout = 30000 and idle_in_transaction_session_timeout = 60000',
    );
};

/** The database that the settings name, as it is; an embedded one runs until it is left. */
export const openOnly = async (
  settings: DatabaseSettings,
  log: FastifyBaseLogger,
): Promise<{ connectionString: string; leave: () => Promise<void> }> => {
  const embedded = settings.databaseUrl ? null : await joinEmbedded(settings.dataDir, log);
  const given = settings.databaseDirectUrl || settings.databaseUrl;
  return {
    connectionString: embedded?.connectionString ?? given ?? '',
    leave: async () => embedded?.leave(),
  };
};

/** Copies a database, given its address, and gives the copy's file. */
type Copy = (connectionString: string) => Promise<string>;

const isPooledBy = ({ databaseUrl, databaseDirectUrl }: DatabaseSettings): boolean =>
  Boolean(databaseUrl && databaseDirectUrl);

const upgrade = (
  connectionString: string,
  settings: DatabaseSettings,
  log: FastifyBaseLogger,
  copy?: Copy,
): Promise<string[]> => {
  const setting = isPooledBy(settings) ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  return withConnection(connectionString, setting, async (client) => {
    await refusePooler(client, setting);
    return migrate(client, log, copy ? { copy: () => copy(connectionString) } : {});
  });
};

/** Brings the schema up to date and opens nothing; gives the names of the migrations it applied. */
export const upgradeDatabase = async (
  settings: DatabaseSettings,
  log: FastifyBaseLogger,
  copy?: Copy,
): Promise<string[]> => {
  const { connectionString, leave } = await openOnly(settings, log);
  try {
    return await upgrade(connectionString, settings, log, copy);
  } finally {
    await leave();
  }
};

/**
 * Opens the database that the settings name and brings its schema up to date.
 * @param copy see `MigrateOptions`; without it nothing is copied
 * @throws StartupError for what the person who starts the server must settle
 */
export const connectDatabase = async (
  settings: DatabaseSettings,
  log: FastifyBaseLogger,
  copy?: Copy,
): Promise<Connection> => {
  const { connectionString, leave } = await openOnly(settings, log);
  const { databaseUrl } = settings;
  if (databaseUrl) expectStandby();
  const pooled = isPooledBy(settings);
  try {
    await upgrade(connectionString, settings, log, copy);
    if (pooled && databaseUrl)
      await withConnection(databaseUrl, 'DATABASE_URL', (client) => checkPooler(client, log));
  } catch (error) {
    await leave();
    throw error;
  }
  const address = (pooled && databaseUrl) || connectionString;
  const pool = openPool({ connectionString: address, pooled, max: 10 }, log);
  const sessions = pooled ? openPool({ connectionString, max: 4 }, log) : pool;
  const close = async (): Promise<void> => {
    await pool.end();
    if (sessions !== pool) await sessions.end();
    await leave();
  };
  return { db: openDatabase(pool), pool, sessions, connectionString, close };
};
