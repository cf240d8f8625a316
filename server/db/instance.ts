import { hostname } from 'node:os';
import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { FastifyBaseLogger } from 'fastify';
import type { Executor } from './database.ts';
import { PipelinedClient } from './pipelined-client.ts';

/** First half of the advisory locks that say which server processes live. */
export const instanceLockClass = 7_217_001;

/** Conditions on a row of pg_locks: it says that the server process of a number lives. */
export const livingLock = `locktype = 'advisory' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = ${instanceLockClass}::oid`;

/** How many server processes live on this database. */
export const livingInstances = async (db: Executor): Promise<number> => {
  const { rows } = await db.execute<{ living: number }>(
    sql`SELECT count(DISTINCT objid)::int AS living FROM pg_locks WHERE ${sql.raw(livingLock)}`,
  );
  return rows[0]?.living ?? 0;
};

export interface Instance {
  readonly id: number;
  /** Calls back for every NOTIFY of a channel, whichever process sent it; several may listen. */
  listen: (channel: string, onNotice: (payload: string) => void) => Promise<void>;
  isAlive: (otherId: number) => Promise<boolean>;
  /** Tells the other processes where this one serves: origins by comma, best first. */
  serveAt: (address: string) => Promise<void>;
  /** The origins at which another process may be reached, best first; none: it serves nobody. */
  originsOf: (otherId: number) => Promise<string[]>;
  /** Whether another living process serves people. */
  isServedElsewhere: () => Promise<boolean>;
  close: () => Promise<void>;
}

const reconnectDelay = 500;
/** How often the connection is tried, and how long an answer on it may take, ms. */
const lookMs = 5_000;
const answerMs = 10_000;

/**
 * Announces this process to the others on the same database: a row in `instances` and, on a
 * connection of its own, an advisory lock that ends with the process. The connection also listens;
 * when it breaks it is made anew, with the same id.
 */
export const joinInstances = async (
  connectionString: string,
  log: Pick<FastifyBaseLogger, 'warn' | 'info'>,
): Promise<Instance> => {
  const listeners = new Map<string, ((payload: string) => void)[]>();
  let id: number | undefined;
  let client: pg.Client;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const next = new PipelinedClient({
      connectionString,
      keepAlive: true,
      application_name: 'queqiao instance',
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    });
    let lost = false;
    const reconnect = (): void => {
      if (lost || closed) return;
      lost = true;
      log.warn('the connection of this instance broke; connecting again');
      next.end().catch(() => undefined);
      const again = (): void => {
        if (closed) return;
        connect().then(
          () => log.info('the connection of this instance is back'),
          () => (timer = setTimeout(again, reconnectDelay)),
        );
      };
      timer = setTimeout(again, reconnectDelay);
    };
    await next.connect();
    next.on('error', reconnect);
    next.on('end', reconnect);
    next.on('notification', ({ channel, payload }) => {
      for (const onNotice of listeners.get(channel) ?? []) onNotice(payload ?? '');
    });
    try {
      if (id === undefined) {
        const { rows } = await next.query<{ id: number }>(
          'INSERT INTO instances DEFAULT VALUES RETURNING id',
        );
        id = rows[0]?.id;
      }
      await next.query('SELECT pg_advisory_lock($1, $2)', [instanceLockClass, id]);
      for (const channel of listeners.keys()) await next.query(`LISTEN ${channel}`);
    } catch (error) {
      lost = true;
      await next.end().catch(() => undefined);
      throw error;
    }
    client = next;
    // A way that is gone without a word would leave it deaf.
    const look = setInterval(() => {
      next.query('SELECT 1').catch(() => {
        if (!lost && !closed) next.end().catch(() => undefined);
        reconnect();
      });
    }, lookMs).unref();
    next.once('end', () => clearInterval(look));
  };

  await connect();
  if (id === undefined) throw new Error('the instance got no id');

  return {
    id,
    listen: async (channel, onNotice) => {
      if (!/^[a-z_]+$/.test(channel)) throw new Error(`not a channel: ${channel}`);
      listeners.set(channel, [...(listeners.get(channel) ?? []), onNotice]);
      await client.query(`LISTEN ${channel}`);
    },
    isAlive: async (otherId) => {
      const { rowCount } = await client.query(
        `SELECT 1 FROM pg_locks WHERE ${livingLock} AND objid = $1::int::oid`,
        [otherId],
      );
      return (rowCount ?? 0) > 0;
    },
    serveAt: async (address) => {
      await client.query('UPDATE instances SET address = $2 WHERE id = $1', [id, address]);
    },
    originsOf: async (otherId) => {
      const { rows } = await client.query<{ address: string | null }>(
        'SELECT address FROM instances WHERE id = $1',
        [otherId],
      );
      return (rows[0]?.address ?? '').split(',').flatMap((each) => {
        const [origin = '', machine = hostname()] = each.split('#');
        return origin !== '' && machine === hostname() ? origin : [];
      });
    },
    isServedElsewhere: async () => {
      const { rowCount } = await client.query(
        `SELECT 1 FROM instances JOIN pg_locks ON objid = id::oid
          WHERE ${livingLock} AND address IS NOT NULL AND id <> $1 LIMIT 1`,
        [id],
      );
      return (rowCount ?? 0) > 0;
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await client.query('DELETE FROM instances WHERE id = $1', [id]).catch(() => undefined);
      await client.end().catch(() => undefined);
    },
  };
};
