import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import type { Wait } from './messages.ts';

/**
 * The few facts that page and worker share: localStorage does not reach into a worker. Each area
 * adds its keys here, with what stands under them.
 */
export interface Facts {
  /** Number of this browser, made once; outlives the account. */
  device: string;
  /** Bearer token of the account that is here; the worker asks with it while no page is open. */
  token: string;
  waits: WaitBook;
  /** False: the person does not want notifications, although the browser allows them. */
  notify: boolean;
  /** Where the server pushes to: known to it as this account's, since then (ms since 1970). */
  pushed: { account: string; endpoint: string; at: number };
}

/** What the worker waits for, and what it has told, by `kind:id`. */
export interface WaitBook {
  pending: Record<string, Wait>;
  /** When, ms since 1970. */
  told: Record<string, number>;
  /** The server was asked to push some of these. */
  watched: boolean;
}

interface Database extends DBSchema {
  facts: { key: string; value: unknown };
}

/** What tells this browser from others, and nothing of the person: stays after a logout. */
const lasting: ReadonlySet<string> = new Set<keyof Facts>(['device', 'notify']);

let opened: Promise<IDBPDatabase<Database>> | undefined;
const database = () => {
  opened ??= openDB<Database>('queqiao-worker', 1, {
    upgrade: (db) => void db.createObjectStore('facts'),
    terminated: () => {
      opened = undefined;
    },
  });
  opened.catch(() => {
    opened = undefined;
  });
  return opened;
};

/** Undefined: nothing is there. Rejects where storage is forbidden or broken. */
export const getFact = async <K extends keyof Facts>(key: K): Promise<Facts[K] | undefined> =>
  (await (await database()).get('facts', key)) as Facts[K] | undefined;

/** Undefined takes it away. Rejects where storage is full or forbidden. */
export const setFact = async <K extends keyof Facts>(
  key: K,
  value: Facts[K] | undefined,
): Promise<void> => {
  const db = await database();
  await (value === undefined ? db.delete('facts', key) : db.put('facts', value, key));
};

/** Reads and writes in one transaction, so that tabs and worker do not undo each other. */
export const changeFact = async <K extends keyof Facts>(
  key: K,
  change: (value: Facts[K] | undefined) => Facts[K] | undefined,
): Promise<void> => {
  const transaction = (await database()).transaction('facts', 'readwrite');
  const value = change((await transaction.store.get(key)) as Facts[K] | undefined);
  await (value === undefined ? transaction.store.delete(key) : transaction.store.put(value, key));
  await transaction.done;
};

/** Nothing of a person stays here after a logout. */
export const clearFacts = async (): Promise<void> => {
  const transaction = (await database()).transaction('facts', 'readwrite');
  for (const key of await transaction.store.getAllKeys())
    if (!lasting.has(key)) await transaction.store.delete(key);
  await transaction.done;
};
