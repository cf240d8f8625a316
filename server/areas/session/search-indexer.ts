import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import { databaseFailure } from '#server/db/failure.ts';
import type { Instance } from '#server/db/instance.ts';
import { indexQueued } from './search.service.ts';

/** NOTIFY channel of the triggers that fill the queue. */
const channel = 'search_queue';
/** Messages at a time: few, so that nobody's reply waits for it; of a long queue more and more. */
const batch = { least: 50, most: 1000 } as const;
/** After the first sign of work, for more of it to come together, ms. */
const gather = 300;
/** How long it waits after what went wrong, and while another process is at it, ms. */
const retry = 5_000;

/**
 * Keeps the index of messages up to date: works the queue off when something was put into it, in one
 * of all processes that share the database. Searches look at what still waits in the queue, too.
 */
export const startSearchIndexer = async (
  db: Database,
  instance: Instance,
  log: FastifyBaseLogger,
) => {
  const closing = new AbortController();
  let wanted = false;
  let running: Promise<void> | null = null;

  const workOff = async (): Promise<void> => {
    // One message may be at fault for a failure: it is left out when it fails alone.
    let together = Infinity;
    while (wanted && !closing.signal.aborted) {
      wanted = false;
      await sleep(gather, undefined, { ref: false });
      try {
        let done: number | null = null;
        for (let size: number = batch.least; !closing.signal.aborted; size *= 2) {
          const began = performance.now();
          const most = Math.min(size, batch.most, together);
          done = await indexQueued(db, most, { log, together });
          if (done !== most) break;
          together *= 2;
          // A long queue shares the machine with whoever uses it.
          await sleep(performance.now() - began, undefined, { ref: false });
        }
        together = Infinity;
        if (done === null) {
          // The other process was told as well; it may end before it is through.
          wanted = true;
          await sleep(retry, undefined, { ref: false, signal: closing.signal });
        }
      } catch (error) {
        if (closing.signal.aborted) return;
        if (databaseFailure(error) === 'unavailable')
          log.warn('the search index waits for the database');
        else log.warn({ err: error }, 'the search index was not updated and is tried again');
        wanted = true;
        together = 1;
        await sleep(retry, undefined, { ref: false, signal: closing.signal }).catch(() => {});
      }
    }
  };
  const wake = (): void => {
    wanted = true;
    running ??= workOff().finally(() => {
      running = null;
      if (wanted && !closing.signal.aborted) wake();
    });
  };

  await instance.listen(channel, wake);
  wake();
  return {
    close: async (): Promise<void> => {
      closing.abort();
      await running;
    },
  };
};
