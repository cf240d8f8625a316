import type { FastifyBaseLogger } from 'fastify';
import pg from 'pg';
import type { Database } from './database.ts';
import { openDatabase } from './database.ts';
import { sqlState } from './failure.ts';
import { joinEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { PipelinedClient } from './pipelined-client.ts';
import { StartupError } from './startup-error.ts';

/** SQLSTATE admin_shutdown. */
const endedByAdministrator = '57P01';

export interface Connection {
  db: Database;
  pool: pg.Pool;
  /** For connections of one's own, such as one that LISTENs. */
  connectionString: string;
  /** Ends the pool and leaves the database; an embedded one stops with the last that leaves it. */
  close: () => Promise<void>;
}

/** How long the first connection may take, ms: a start that cannot work says so soon. */
const connectMs = 4_000;

interface DatabaseSettings {
  dataDir: string;
  /** Empty or missing: the embedded database below dataDir. */
  databaseUrl?: string | null;
}

const openPool = (connectionString: string, log: FastifyBaseLogger): pg.Pool => {
  const pool = new pg.Pool({
    Client: PipelinedClient,
    connectionString,
    application_name: 'queqiao',
    max: 10,
    // Memory goes back when nothing is going on.
    idleTimeoutMillis: 10_000,
    // Also the longest wait for a free one: hundreds of questions in one second take their turns.
    connectionTimeoutMillis: 15_000,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
  });
  // A connection that breaks while idle is replaced at its next use.
  // One that the database ended by itself, as it does when it stops, is nothing to look after.
  const broken = (error: Error): void =>
    sqlState(error) === endedByAdministrator
      ? log.info('the database ended a connection')
      : log.warn({ err: error }, '与数据库的一条连接断开');
  pool.on('error', broken);
  // While it is lent out the pool does not listen.
  pool.on('connect', (client) => client.on('error', broken));
  return pool;
};

const migrateOnce = async (connectionString: string, log: FastifyBaseLogger): Promise<void> => {
  const client = new pg.Client({
    connectionString,
    application_name: 'queqiao-migrate',
    connectionTimeoutMillis: connectMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new StartupError(`连接不上数据库：${(error as Error).message}。请检查 DATABASE_URL。`);
  }
  try {
    await migrate(client, log);
  } finally {
    await client.end();
  }
};

/** The database that the settings name, as it is; an embedded one runs until it is left. */
export const openOnly = async (
  settings: DatabaseSettings,
  log: FastifyBaseLogger,
): Promise<{ connectionString: string; leave: () => Promise<void> }> => {
  const embedded = settings.databaseUrl ? null : await joinEmbedded(settings.dataDir, log);
  return {
    connectionString: embedded?.connectionString ?? settings.databaseUrl ?? '',
    leave: async () => embedded?.leave(),
  };
};

/**
 * Opens the database that the settings name and brings its schema up to date.
 * Throws StartupError for what the person who starts the server must settle.
 */
export const connectDatabase = async (
  settings: DatabaseSettings,
  log: FastifyBaseLogger,
): Promise<Connection> => {
  const { connectionString, leave } = await openOnly(settings, log);
  try {
    await migrateOnce(connectionString, log);
  } catch (error) {
    await leave();
    throw error;
  }
  const pool = openPool(connectionString, log);
  const close = async (): Promise<void> => {
    await pool.end();
    await leave();
  };
  return { db: openDatabase(pool), pool, connectionString, close };
};
