import type { FastifyBaseLogger } from 'fastify';
import type { Database, Executor } from '#server/db/database.ts';
import { acceleratorsOf } from './model-view.ts';
import { servedModels, type ServedModel } from './model.store.ts';

/** Changes made by another process are seen within this, ms. */
const cacheMs = 3_000;

/** The models that are served, with their channels, as last read. */
export interface Catalogue {
  served: (db: Executor) => Promise<ServedModel[]>;
  /** Those of one model: a row for each of its channels. */
  named: (db: Executor, name: string) => Promise<ServedModel[]>;
  /** What was remembered is read anew: somebody changed it. */
  forget: () => void;
  /** Addresses (scheme, host, port) that the page may read replies from. */
  accelerators: () => readonly string[];
}

export const createCatalogue = (pool: Database, log: FastifyBaseLogger): Catalogue => {
  let cached: { served: ServedModel[]; at: number } | null = null;
  let accelerators: string[] = [];
  let refreshing = false;
  /** How often somebody changed it. */
  let changes = 0;
  const isFresh = () => cached !== null && Date.now() - cached.at < cacheMs;
  /**
   * Each caller that finds the cache old reads with its own connection: waiting for another one's
   * could lock up when all connections are in transactions that wait here.
   */
  const served = async (db: Executor): Promise<ServedModel[]> => {
    if (cached && isFresh()) return cached.served;
    const at = Date.now();
    const asOf = changes;
    const rows = await servedModels(db);
    // What was read before a change is not what is there after it.
    if (asOf !== changes) return rows;
    cached = { served: rows, at };
    accelerators = acceleratorsOf(rows);
    return rows;
  };
  return {
    served,
    named: async (db, name) => (await served(db)).filter(({ model }) => model.name === name),
    forget: () => {
      changes += 1;
      cached = null;
    },
    accelerators: () => {
      // Asked for with each answer: what is old is read again without anybody waiting for it.
      if (!refreshing && !isFresh()) {
        refreshing = true;
        served(pool)
          .catch((error: unknown) => log.warn({ err: error }, 'models cannot be read for now'))
          .finally(() => {
            refreshing = false;
          });
      }
      return accelerators;
    },
  };
};
