import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import type { KeyGate } from '#server/http/open-handlers.ts';
import * as store from './developer.store.ts';

/** How often the keys of calls that run are looked at, ms: a disabled account tells nobody. */
const lookEvery = 5_000;

/** Tells calls that run when their key is gone or their account disabled. */
export const createKeyWatch = (deps: {
  db: Database;
  instance: Instance;
  log: Pick<FastifyBaseLogger, 'warn'>;
}): Pick<KeyGate, 'watch'> & { close: () => void } => {
  const { db, instance, log } = deps;
  const watchers = new Map<number, Set<() => void>>();

  const end = (keyId: number): void => {
    for (const onGone of watchers.get(keyId) ?? []) onGone();
  };

  const look = async (): Promise<void> => {
    if (watchers.size === 0) return;
    try {
      for (const keyId of await store.goneKeys(db, [...watchers.keys()])) end(keyId);
    } catch (error) {
      log.warn({ err: error }, 'keys could not be looked at for now');
    }
  };

  void instance.listen(store.goneChannel, (payload) => end(Number(payload)));
  const timer = setInterval(() => void look(), lookEvery).unref();

  return {
    watch: ({ keyId }, onGone) => {
      const own = watchers.get(keyId) ?? new Set();
      watchers.set(keyId, own);
      own.add(onGone);
      return () => {
        own.delete(onGone);
        if (own.size === 0 && watchers.get(keyId) === own) watchers.delete(keyId);
      };
    },
    close: () => clearInterval(timer),
  };
};
