import { randomUUID } from 'node:crypto';
import type { Database } from '#server/db/database.ts';
import type { ShelfEntry } from '#server/engines/local/catalogue.ts';
import { beginJob } from '#server/jobs/job.service.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import { type Bringing, type FetchRow, isOpen } from './bring-model.ts';
import { type FetchInput, fetchLivesMs, markOf } from './fetch-job.ts';
import * as store from './local-model.store.ts';

/**
 * What is brought from mirrors, each as a job. A process that works on no jobs brings by itself: who
 * does may have another folder.
 */
export const createFetches = (deps: {
  db: Database;
  folder: string;
  bringing: Bringing;
  workers: number;
}) => {
  const { db, folder, bringing, workers } = deps;
  /** Why the last try without a job failed. */
  const errors = new Map<string, string>();

  const bringHere = async (entry: ShelfEntry): Promise<void> => {
    errors.delete(entry.key);
    const brought = await bringing.bring(entry);
    if (brought.state === 'failed') errors.set(entry.key, brought.error);
  };

  return {
    /** Tells of each model the last try to bring it. */
    last: async (): Promise<(key: string) => FetchRow | undefined> => {
      const rows = await store.lastFetches(db, await markOf(folder));
      return (key) => {
        const error = errors.get(key);
        return error === undefined
          ? rows.find((row) => row.key === key)
          : { id: 0, key, state: 'error', error };
      };
    },

    /** @param by whose job it is; left out: its first owner's */
    begin: async (entry: ShelfEntry, by?: number): Promise<void> => {
      const userId = by ?? (await store.firstOwner(db));
      if (workers === 0 || userId === null) {
        void bringHere(entry);
        return;
      }
      const mark = await markOf(folder);
      await db.transaction(async (tx) => {
        await store.lockFetches(tx);
        const rows = await store.lastFetches(tx, mark);
        if (rows.some((row) => row.key === entry.key && isOpen(row))) return;
        await beginJob(tx, {
          uuid: randomUUID(),
          userId,
          kind: 'local-model',
          title: entry.label,
          model: '本机模型',
          subject: { kind: 'local-model', id: userId },
          input: { key: entry.key, folder: mark } satisfies FetchInput,
          holdId: null,
          heldTokens: 0,
          livesMs: fetchLivesMs,
        });
      });
    },

    /** Ends it in whichever process, and speaks of its failure no more. */
    stop: async (key: string, jobs: Pick<Jobs, 'cancel'>): Promise<void> => {
      errors.delete(key);
      const rows = await store.lastFetches(db, await markOf(folder));
      const found = rows.find((row) => row.key === key);
      if (found && isOpen(found)) await jobs.cancel(found.id);
      else if (found) await store.hideJob(db, found.id);
    },
  };
};
