import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { createFairQueue } from '#server/fair-queue.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import type { DiskRoom } from '#server/storage/disk-room.ts';
import { createKeyLimit, createPersonLimit } from '#server/http/rate-limit.ts';
import * as store from './pieces.store.ts';
import type { RequireRoom } from './room.ts';

const megabyte = 1024 * 1024;

/** What one person may have on its way at once; what is an app's size counts apart. */
const most = { files: 20, bytes: 96 * megabyte, apps: 4 };

/**
 * A request of a few bytes makes the server take up a whole file: how many are read at once, how
 * many one person may have waiting, and their bytes in a minute.
 */
const reads = { atOnce: 2, waiting: 8, bytes: 1024 * megabyte };

interface Piece {
  upload_id: string;
  /** Bytes before this piece, and of the whole file. */
  offset: number;
  size: number;
}

/** Larger than what people bring: an app, which no quota of a person counts. */
const isApp = (size: number): boolean => size > limits.pieces.fileBytes;
const tooLarge = (bytes: number): Refusal =>
  new Refusal('too_large', `文件太大，最多 ${Math.floor(bytes / megabyte)} MB`);

const notWhole = () => new Refusal('not_found', '文件没有传完，请再传一次');

export interface PiecesDeps {
  uploadLimit: number;
  /** Of an app, which managers alone bring. */
  appFileBytes: number;
  disk: DiskRoom;
}

/** Files that come in pieces, so that one goes on where the line broke. */
export const createPieces = (
  { uploadLimit, appFileBytes, disk }: PiecesDeps,
  requireRoom: RequireRoom,
) => {
  const limitPerson = createPersonLimit(uploadLimit * 8, 'pieces');
  const limitReads = createKeyLimit(reads.bytes / 1024, 60, 'reads of pieces');
  const inTurn = createFairQueue(reads.atOnce, reads.waiting);

  const requireRoomFor = (tx: Executor, user: Identity, size: number, more: [number, number]) =>
    isApp(size) ? disk.require(user) : requireRoom(tx, user, ...more);

  /** @throws Refusal too_large, too_many_jobs, file_quota, storage_full */
  const begin = async (tx: Executor, uuid: string, size: number, user: Identity) => {
    const largest = user.manager
      ? Math.max(appFileBytes, limits.pieces.fileBytes)
      : limits.pieces.fileBytes;
    if (size > largest) throw tooLarge(largest);
    await store.lockBeginning(tx, user.person);
    const fits = async () => {
      const { files, bytes, apps } = await store.countUploads(tx, user.id);
      return isApp(size) ? apps < most.apps : files < most.files && bytes + size <= most.bytes;
    };
    if (!(await fits())) {
      await store.dropUsed(tx, user.id);
      if (!(await fits())) throw new Refusal('too_many_jobs', '没有传完的文件太多，请等一会儿再传');
    }
    await requireRoomFor(tx, user, size, [size, 0]);
    await store.beginUpload(tx, { uuid, userId: user.id, size });
  };

  return {
    /** How many bytes of one's own upload are here; of another's none are. */
    async pieceState(db: Executor, uuid: string, { id }: Identity): Promise<{ received: number }> {
      const found = await store.findUpload(db, uuid.toLowerCase(), id);
      return { received: found?.received ?? 0 };
    },

    /** Keeps a piece. @throws Refusal too_large, too_many, too_many_jobs, file_quota, storage_full */
    async keepPiece(
      db: Executor,
      { upload_id: id, offset, size }: Piece,
      { data, user }: { data: Buffer; user: Identity },
    ): Promise<{ received: number }> {
      await limitPerson(user.id);
      const uuid = id.toLowerCase();
      return inTransaction(db, async (tx) => {
        const known = await store.findUpload(tx, uuid, user.id);
        if (!known) await begin(tx, uuid, size, user);
        if (data.length > 0) {
          await requireRoomFor(tx, user, known?.size ?? size, [0, data.length]);
          await store.addPiece(tx, { uuid, userId: user.id, at: offset, data });
        }
        return { received: (await store.findUpload(tx, uuid, user.id))?.received ?? 0 };
      });
    },

    /** The file whose pieces are all here. @throws Refusal not_found, too_large, too_many */
    async whole(db: Executor, id: string, bytes: number, user: Identity): Promise<Buffer> {
      const found = await store.findUpload(db, id.toLowerCase(), user.id);
      if (!found || found.received < found.size) throw notWhole();
      if (found.size > bytes) throw tooLarge(bytes);
      await limitReads(user.person, Math.ceil(found.size / 1024));
      const whole = await inTurn(user, () => store.useUpload(db, found));
      if (!whole) throw notWhole();
      return whole;
    },
  };
};
