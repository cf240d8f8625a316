import { accountOf } from './account-of.ts';
import type { Draft } from './draft-echo.ts';
import { readStored, tokenKey, userKey } from './stored.ts';
import { openOutbox } from '@common/outbox/database.ts';

/** A draft as the outbox's database has it, in the table `drafts`. */
export interface KeptDraft extends Draft {
  account: string;
  key: string;
}

declare global {
  interface Window {
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

const keptOf = (asked: IDBRequest<KeptDraft[]>): Promise<readonly KeptDraft[]> =>
  new Promise((resolve, reject) => {
    asked.addEventListener('success', () => resolve(asked.result));
    asked.addEventListener('error', () => reject(asked.error ?? new Error('drafts')));
  });

/**
 * The drafts of whoever is in sight, read before any code of the app is there and so without Dexie,
 * which made the database. Empty where there is none, or where it can not be read.
 */
export const readKeptDrafts = async (): Promise<readonly KeptDraft[]> => {
  const database = await openOutbox();
  try {
    const drafts = database?.transaction('drafts').objectStore('drafts').index('account');
    return drafts ? await keptOf(drafts.getAll(ownerAtStart())) : [];
  } catch {
    return [];
  } finally {
    database?.close();
  }
};
