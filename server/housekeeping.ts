import type { FastifyBaseLogger } from 'fastify';
import type { Chore } from './area.ts';
import type { Database } from './db/database.ts';
import { tryLock } from './db/questions.ts';

const interval = 60_000;
/** The advisory lock of whichever process is at it. */
const lock = 4_715_002;

/** Does the chores once a minute, in one of all processes that share the database. */
export const startHousekeeping = (
  db: Database,
  log: FastifyBaseLogger,
  chores: readonly Chore[],
) => {
  let running: Promise<void> = Promise.resolve();
  const round = async () => {
    for (const chore of chores) {
      try {
        await db.transaction(async (tx) => {
          if (await tryLock(tx, lock)) await chore(tx);
        });
      } catch (error) {
        log.warn({ err: error }, 'a chore failed and is tried again in a minute');
      }
    }
  };
  const timer = setInterval(() => {
    running = running.then(round);
  }, interval);
  timer.unref();
  return {
    close: async (): Promise<void> => {
      clearInterval(timer);
      await running;
    },
  };
};
