import type { Executor } from '#server/db/database.ts';
import { networkOf, type Owners } from '#server/db/person.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import type { Settings } from '#server/settings.ts';
import type { DiskRoom } from '#server/storage/disk-room.ts';
import { lockKeeping, usedBytes } from './file.store.ts';
import { comingBytes } from './pieces.store.ts';

export interface RoomDeps {
  /** Most bytes that the files of one person take, of the guests of one network, and of all guests. */
  quota: number;
  guestQuota: Settings['guestQuota'];
  disk: DiskRoom;
  /** Bytes of the images that were drawn. */
  drawnBytes: (db: Executor, owners: Owners) => Promise<number>;
}

export { lockKeeping } from './file.store.ts';

/** How long it is believed how much all guests keep, ms: to sum it up takes a while. */
const summedForMs = 60_000;
const guestsFull = '访客的文件空间已满，登录之后才能继续上传和画图';

/**
 * Refuses `size` bytes more of whoever has no room left for them.
 * @param here those of them that have come: what is only announced takes the room of nobody else
 * @throws Refusal file_quota, storage_full
 */
export type RequireRoom = (
  db: Executor,
  user: Pick<Identity, 'id' | 'guest' | 'person'>,
  size: number,
  here?: number,
) => Promise<void>;

export const createRoom = ({ quota, guestQuota, disk, drawnBytes }: RoomDeps): RequireRoom => {
  const bytesOf = async (db: Executor, owners: Owners): Promise<number> =>
    (await usedBytes(db, owners)) +
    (await comingBytes(db, owners)) +
    (await drawnBytes(db, owners));

  /** Of all guests, as it was a while ago, and what was added here since. */
  let ofGuests = { bytes: 0, until: 0 };
  const requireRoomOfGuests = async (db: Executor, network: string | null, size: number) => {
    if (ofGuests.until < Date.now())
      ofGuests = { bytes: await bytesOf(db, 'guests'), until: Date.now() + summedForMs };
    if (ofGuests.bytes + size > guestQuota.all) throw new Refusal('file_quota', guestsFull);
    if (network && (await bytesOf(db, { network })) + size > guestQuota.network)
      throw new Refusal('file_quota', guestsFull);
    ofGuests.bytes += size;
  };

  return async (db, user, size, here = size) => {
    await disk.require(user);
    // Of those that come at once each is counted with what the ones before it keep.
    if (size > 0) await lockKeeping(db, user.person);
    if ((await bytesOf(db, { userId: user.id })) + size > quota) throw new Refusal('file_quota');
    if (user.guest) await requireRoomOfGuests(db, networkOf(user.person), here);
  };
};
