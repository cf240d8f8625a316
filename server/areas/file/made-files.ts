import { createHash } from 'node:crypto';
import type { Executor } from '#server/db/database.ts';
import type { Identity } from '#server/http/handlers.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { newKey } from '#server/storage/storage.ts';
import { findOther, insertFile } from './file.store.ts';
import { otherName } from './image-address.ts';
import type { RequireRoom } from './room.ts';

/**
 * The key of what a call makes, by the secret name of its run: whoever takes the call up again finds
 * what it made.
 */
const keyOfCall = (call: string): string =>
  createHash('sha256').update(`file of ${call}`).digest('hex').slice(0, 40);

/** What a call made before; null: nothing. */
export const madeByCall = async (
  db: Executor,
  call: string,
): Promise<{ url: string; name: string; size: number } | null> => {
  const key = keyOfCall(call);
  const row = await findOther(db, key);
  return row && { ...row, url: `/files/${otherName(key)}` };
};

/** Keeps what a tool made for a person, to be downloaded and never shown here. */
export const createMadeFiles =
  ({ storage, requireRoom }: { storage: Storage; requireRoom: RequireRoom }) =>
  /**
   * Gives its address.
   * @param call what `madeByCall` finds it by
   * @throws Refusal file_quota, storage_full
   */
  async (
    db: Executor,
    { name, data, call }: { name: string; data: Buffer; call?: string },
    user: Pick<Identity, 'id' | 'guest' | 'person'>,
  ): Promise<string> => {
    await requireRoom(db, user, data.length);
    const key = call === undefined ? newKey() : keyOfCall(call);
    const mime = 'application/octet-stream';
    await insertFile(db, { userId: user.id, key, name, mime, size: data.length, kind: 'other' });
    await storage.put(otherName(key), data, mime);
    return `/files/${otherName(key)}`;
  };
