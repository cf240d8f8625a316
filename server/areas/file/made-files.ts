import type { Executor } from '#server/db/database.ts';
import type { Identity } from '#server/http/handlers.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { newKey } from '#server/storage/storage.ts';
import { insertFile } from './file.store.ts';
import { otherName } from './image-address.ts';
import type { RequireRoom } from './room.ts';

/** Keeps what a tool made for a person, to be downloaded and never shown here. */
export const createMadeFiles =
  ({ storage, requireRoom }: { storage: Storage; requireRoom: RequireRoom }) =>
  /** Gives its address. @throws Refusal file_quota, storage_full */
  async (
    db: Executor,
    { name, data }: { name: string; data: Buffer },
    user: Pick<Identity, 'id' | 'guest' | 'person'>,
  ): Promise<string> => {
    await requireRoom(db, user, data.length);
    const key = newKey();
    const mime = 'application/octet-stream';
    await insertFile(db, { userId: user.id, key, name, mime, size: data.length, kind: 'other' });
    await storage.put(otherName(key), data, mime);
    return `/files/${otherName(key)}`;
  };
