import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { db, writing } from './outbox-db.ts';

/** Keeps bytes on this device until they are uploaded. @throws StorageFull */
export const keepBlob = async (id: string, blob: Blob): Promise<void> => {
  await writing(() => db.blobs.put({ id, account: accountOf(authStore.get().token), blob }));
};

export const readBlob = async (id: string): Promise<Blob | undefined> =>
  (await db.blobs.get(id))?.blob;

export const dropBlob = (id: string): Promise<void> => db.blobs.delete(id);
