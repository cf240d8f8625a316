import type { Act } from '#common/outbox/act.ts';
import { outboxDatabase } from '#common/outbox/database.ts';
import { isBroken, isFull, makingRoom } from '#common/outbox/storage-full.ts';
import { actStoreOn, withoutRoom, type KeptBlob } from '#common/outbox/store.ts';
import Dexie, { type Table } from 'dexie';
import { ApiError } from '#src/platform/api-error.ts';
import { loadStore } from '#src/platform/cache.ts';
import { deviceFull } from '#src/platform/device-full.ts';
import type { KeptDraft } from '#src/platform/draft-early.ts';
import type { Note } from '#src/platform/note.ts';

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

/** The storage of this device has no room, or takes nothing. */
export class StorageFull extends ApiError {
  constructor(full: boolean) {
    const why = full
      ? '手机存储已满，没能存到这台设备上，请清理一些空间再试'
      : '没能存到这台设备上，请重新打开页面再试';
    super(507, why, 200);
    this.name = 'StorageFull';
  }
}

/** Writes; where there is no room, what was only read gives way first. @throws StorageFull */
export const writing = async <T>(write: () => Promise<T>): Promise<T> => {
  const giveWay = [0, 1].map((at) => async () => (await loadStore()).giveWay[at]?.());
  try {
    const written = await makingRoom(write, giveWay);
    deviceFull.set(false);
    return written;
  } catch (error) {
    if (isFull(error)) deviceFull.set(true);
    throw isBroken(error) ? new StorageFull(isFull(error)) : error;
  }
};

export const actStore = withoutRoom(
  actStoreOn(async () => {
    await db.open();
    return db.backendDB();
  }),
);

db.on('close', () => actStore.doubt());
