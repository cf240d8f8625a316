import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'iovalkey';
import type { Database } from '../db/database.ts';
import { keptSecret } from '../db/kept-secret.ts';

/** Valkey (or Redis), for what is quick and may be lost: the database alone holds what is kept. */
export interface Valkey {
  client: Redis;
  /** A key or channel of this database's own: other installations may use the same Valkey. */
  key: (name: string) => string;
  /** Whether it answers; what is sent meanwhile fails at once. */
  isReady: () => boolean;
  /** Hears a channel; gives what ends that. @throws Error while it does not answer */
  hear: (channel: string, onMessage: (text: string) => void) => Promise<() => void>;
  close: () => void;
}

/** An answer that takes longer is not waited for, and how often it is asked whether it answers, ms. */
const answerMs = 1_000;
const lookMs = 500;
/** How long a start waits for it, ms, and how long pauses between attempts grow, ms. */
const startMs = 2_000;
const longestPause = 1_000;

/**
 * Connects to Valkey, and goes on without it while it is away: it is tried again by itself.
 * @param url such as redis://:password@host:6379/0; rediss:// for TLS
 */
export const openValkey = async (
  url: string,
  db: Database,
  log: Pick<FastifyBaseLogger, 'warn' | 'info'>,
): Promise<Valkey> => {
  const { Redis } = await import('iovalkey');
  const secret = await keptSecret(db, 'valkey', () => crypto.randomUUID());
  const prefix = `queqiao:${createHash('sha256').update(secret).digest('base64url').slice(0, 12)}:`;
  const connect = (): Redis =>
    new Redis(url, {
      connectTimeout: startMs,
      commandTimeout: answerMs,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: true,
      retryStrategy: (times) => Math.min(longestPause, times * 100),
      // Of a primary that became a replica: the next connection leads to the new one.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    });
  const client = connect();
  const listener = connect();
  let away = false;
  const lost = (error?: Error): void => {
    if (away) return;
    away = true;
    log.warn({ err: error }, 'Valkey does not answer; going on without it');
  };
  client.on('error', lost);
  client.on('close', () => lost());
  listener.on('error', () => {});
  client.on('ready', () => {
    if (away) log.info('Valkey is back');
    away = false;
  });

  const heard = new Map<string, Set<(text: string) => void>>();
  listener.on('message', (channel: string, text: string) => {
    for (const onMessage of heard.get(channel) ?? []) onMessage(text);
  });

  // One that hangs keeps its connections: nobody is to wait for it again and again.
  let answers = true;
  const looking = setInterval(() => {
    if (client.status === 'ready')
      client.ping().then(
        () => (answers = true),
        () => (answers = false),
      );
  }, lookMs).unref();
  const isReady = (): boolean =>
    answers && client.status === 'ready' && listener.status === 'ready';
  for (let waited = 0; !isReady() && waited < startMs; waited += 20) await sleep(20);

  return {
    client,
    key: (name) => prefix + name,
    isReady,
    hear: async (channel, onMessage) => {
      const all = heard.get(channel) ?? new Set();
      heard.set(channel, all.add(onMessage));
      const leave = (): void => {
        if (!all.delete(onMessage) || all.size > 0 || heard.get(channel) !== all) return;
        heard.delete(channel);
        listener.unsubscribe(channel).catch(() => undefined);
      };
      try {
        await listener.subscribe(channel);
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    close: () => {
      clearInterval(looking);
      client.disconnect();
      listener.disconnect();
    },
  };
};

/** Which server answers at an address. @throws Error when none does */
export const askValkey = async (url: string): Promise<string> => {
  const { Redis } = await import('iovalkey');
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {});
  try {
    await client.connect();
    const info = await client.info('server');
    const [, name = '', version = ''] = /^(redis|valkey)_version:(\S+)/m.exec(info) ?? [];
    return `${name} ${version} 有回答`;
  } finally {
    client.disconnect();
  }
};
