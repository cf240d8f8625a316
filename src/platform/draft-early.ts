import type { Act } from '#common/outbox/act.ts';
import { accountOf } from './account-of.ts';
import type { Draft } from './draft-echo.ts';
import type { Note } from './note.ts';
import { readStored, tokenKey, userKey } from './stored.ts';
import { openOutbox } from '#common/outbox/database.ts';

/** A draft as the outbox's database has it, in the table `drafts`. */
export interface KeptDraft extends Draft {
  account: string;
  key: string;
}

/** What one must know at once of an act that waits, of the table `acts`. */
export type KeptAct = Pick<Act, 'account' | 'lane' | 'name'>;

declare global {
  interface Window {
    /** What waited in this browser to be sent when the page began. */
    queqiaoActs?: Promise<readonly KeptAct[]>;
    /** What was kept of this browser's drafts when the page began (src/app/boot.ts). */
    queqiaoDrafts?: Promise<readonly KeptDraft[]>;
  }
}

/** Under it stands whose drafts are in sight; empty: a visitor's or a guest's. */
export const draftOwnerKey = 'queqiao.drafts-of';

/** Whose drafts are to be in sight: of a killed browser's storage that may have been lost. */
const ownerAtStart = (): string => {
  const owner = readStored(draftOwnerKey);
  if (owner !== '') return owner;
  const user = JSON.parse(readStored(userKey) || 'null') as { guest?: boolean } | null;
  return user?.guest === false ? accountOf(readStored(tokenKey)) : '';
};

const rowsOf = <T>(asked: IDBRequest<T[]>): Promise<readonly T[]> =>
  new Promise((resolve, reject) => {
    asked.addEventListener('success', () => resolve(asked.result));
    asked.addEventListener('error', () => reject(asked.error ?? new Error('outbox')));
  });

/**
 * Rows of the outbox, read before any code of the app is there and so without Dexie, which made the
 * database. Empty where there is none, or where it can not be read.
 */
const readRows = async <T>(
  ask: (database: IDBDatabase) => IDBRequest<T[]>,
): Promise<readonly T[]> => {
  const database = await openOutbox();
  try {
    return database ? await rowsOf(ask(database)) : [];
  } catch {
    return [];
  } finally {
    database?.close();
  }
};

/** The drafts of whoever is in sight. */
export const readKeptDrafts = (): Promise<readonly KeptDraft[]> =>
  readRows((database) =>
    database.transaction('drafts').objectStore('drafts').index('account').getAll(ownerAtStart()),
  );

/** What waits to be sent, of anybody, with what was on its way. */
export const readKeptActs = async (): Promise<readonly KeptAct[]> => {
  const rows = <T>(table: string) =>
    readRows<T>((database) => database.transaction(table).objectStore(table).getAll());
  const [acts, notes] = await Promise.all([rows<KeptAct>('acts'), rows<Note>('notes')]);
  return [...acts, ...notes.map(({ account, act }) => ({ ...act, account }))];
};

const doneOf = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('outbox')));
  });

/**
 * Writes drafts of whoever is in sight into the outbox's database before its own code is there: the
 * first words of a page outlive a kill, too. One that was written later in the meantime stays.
 * @throws Error where the page has made no database yet, or it takes nothing
 */
export const putEarlyDrafts = async (drafts: ReadonlyMap<string, Draft>): Promise<void> => {
  const database = await openOutbox();
  if (!database) throw new Error('no outbox yet');
  try {
    const account = ownerAtStart();
    const transaction = database.transaction('drafts', 'readwrite');
    const table = transaction.objectStore('drafts');
    for (const [key, { text, at }] of drafts) {
      const asked: IDBRequest<KeptDraft | undefined> = table.get([account, key]);
      asked.addEventListener('success', () => {
        if ((asked.result?.at ?? -1) < at) table.put({ account, key, text, at });
      });
    }
    await doneOf(transaction);
  } finally {
    database.close();
  }
};
