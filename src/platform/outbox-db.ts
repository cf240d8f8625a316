import type { Act } from '@common/outbox/engine.ts';
import { actStoreOn, outboxDatabase, type KeptBlob } from '@common/outbox/store.ts';
import Dexie, { type Table } from 'dexie';
import { ApiError } from '@/platform/api-error.ts';
import { loadStore } from '@/platform/cache.ts';
import type { Draft } from '@/platform/draft-echo.ts';
import type { Note } from '@/platform/note.ts';
import { isFull } from '@/platform/storage-full.ts';

/** The text of a box, and everything else that belongs to what is not sent yet. */
export interface KeptDraft extends Draft {
  account: string;
  key: string;
}
/** An act on its way: what is noted in the quick storage may not outlive the browser. */
type KeptNote = Note & { key: string };

const makeDatabase = () => {
  const db = new Dexie(outboxDatabase) as Dexie & {
    acts: Table<Act, number, Omit<Act, 'id'>>;
    blobs: Table<KeptBlob, string>;
    drafts: Table<KeptDraft, [string, string]>;
    notes: Table<KeptNote, string>;
  };
  db.version(2).stores({
    acts: '++id, &key, account',
    blobs: 'id, account',
    drafts: '[account+key], account',
    notes: 'key, account',
  });
  return db;
};
export const db = makeDatabase();

/** The storage of this device has no room. */
export class StorageFull extends ApiError {
  constructor() {
    super(507, '手机存储已满，没能存到这台设备上，请清理一些空间再试', 200);
    this.name = 'StorageFull';
  }
}

/** Writes; where there is no room, what was only read gives way first. @throws StorageFull */
export const writing = async <T>(write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!isFull(error)) throw error;
  }
  await loadStore()
    .then(({ giveWay }) => giveWay())
    .catch(() => undefined);
  try {
    return await write();
  } catch (error) {
    throw isFull(error) ? new StorageFull() : error;
  }
};

export const actStore = actStoreOn(async () => {
  await db.open();
  return db.backendDB();
});
