import type { Executor } from '../../db/database.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { createFairQueue } from '../../fair-queue.ts';
import { type Identity, Refusal } from '../../http/handlers.ts';
import { createKeyLimit, createPersonLimit } from '../../http/rate-limit.ts';
import * as store from './pieces.store.ts';
import type { RequireRoom } from './room.ts';

const megabyte = 1024 * 1024;

/** What one person may have on its way at once. */
const most = { files: 20, bytes: 96 * megabyte };

/**
 * A request of a few bytes makes the server take up a whole file: how many are read at once, how
 * many one person may have waiting, and their bytes in a minute.
 */
const reads = { atOnce: 2, waiting: 8, bytes: 512 * megabyte };

interface Piece {
  upload_id: string;
  /** Bytes before this piece, and of the whole file. */
  offset: number;
  size: number;
}

/** Files that come in pieces, so that one goes on where the line broke. */
export const createPieces = (uploadLimit: number, requireRoom: RequireRoom) => {
  const limitPerson = createPersonLimit(uploadLimit * 8, 'pieces');
  const limitReads = createKeyLimit(reads.bytes / 1024, 60, 'reads of pieces');
  const inTurn = createFairQueue(reads.atOnce, reads.waiting);

  /** @throws Refusal too_many_jobs, file_quota, storage_full */
  const begin = async (tx: Executor, uuid: string, size: number, user: Identity) => {
    await store.lockBeginning(tx, user.person);
    const fits = async () => {
      const { files, bytes } = await store.countUploads(tx, user.id);
      return files < most.files && bytes + size <= most.bytes;
    };
    if (!(await fits())) {
      await store.dropUsed(tx, user.id);
      if (!(await fits())) throw new Refusal('too_many_jobs', '没有传完的文件太多，请等一会儿再传');
    }
    await requireRoom(tx, user, size, 0);
    await store.beginUpload(tx, { uuid, userId: user.id, size });
  };

  return {
    /** How many bytes of one's own upload are here; of another's none are. */
    async pieceState(db: Executor, uuid: string, { id }: Identity): Promise<{ received: number }> {
      const found = await store.findUpload(db, uuid.toLowerCase(), id);
      return { received: found?.received ?? 0 };
    },

    /** Keeps a piece. @throws Refusal too_many, too_many_jobs, file_quota, storage_full */
    async keepPiece(
      db: Executor,
      { upload_id: id, offset, size }: Piece,
      { data, user }: { data: Buffer; user: Identity },
    ): Promise<{ received: number }> {
      await limitPerson(user.id);
      const uuid = id.toLowerCase();
      return inTransaction(db, async (tx) => {
        if (!(await store.findUpload(tx, uuid, user.id))) await begin(tx, uuid, size, user);
        if (data.length > 0) {
          await requireRoom(tx, user, 0, data.length);
          await store.addPiece(tx, { uuid, userId: user.id, at: offset, data });
        }
        return { received: (await store.findUpload(tx, uuid, user.id))?.received ?? 0 };
      });
    },

    /** The file whose pieces are all here. @throws Refusal not_found, too_large, too_many */
    async whole(db: Executor, id: string, bytes: number, user: Identity): Promise<Buffer> {
      const found = await store.findUpload(db, id.toLowerCase(), user.id);
      if (!found || found.received < found.size)
        throw new Refusal('not_found', '文件没有传完，请再传一次');
      if (found.size > bytes)
        throw new Refusal('too_large', `文件太大，最多 ${Math.floor(bytes / 1024 / 1024)} MB`);
      await limitReads(user.person, Math.ceil(found.size / 1024));
      return inTurn(user, () => store.useUpload(db, found.id));
    },
  };
};
