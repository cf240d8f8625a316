import { buffer } from 'node:stream/consumers';
import type { Executor, Transaction } from '#server/db/database.ts';
import type { Identity } from '#server/http/handlers.ts';
import * as store from './file.store.ts';
import { type ImageKey, otherName, ownImage, type ThumbnailSide } from './image-address.ts';
import { imageMimes } from './image.ts';
import { createImageTurns } from './image-turns.ts';
import { forgetMarked, noteMarked, oldMarked } from './marked.store.ts';
import { createMadeFiles } from './made-files.ts';
import { createNamedFiles, type NamedFilesDeps } from './named-files.ts';
import { createOpenedFiles } from './opened-files.ts';
import { createPieces, type PiecesDeps } from './pieces.ts';
import { createRoom, type RoomDeps } from './room.ts';
import type { Shows } from '#server/db/shown.ts';
import { createStoredImages, type Sign } from './stored-images.ts';
import { createUploads, type UploadDeps } from './uploads.ts';

export type FileServiceDeps = UploadDeps & RoomDeps & PiecesDeps & NamedFilesDeps & { sign: Sign };

const imageOf = ({ key, mime }: Pick<store.FileRow, 'key' | 'mime'>): ImageKey => ({
  key,
  type: mime === imageMimes.png ? 'png' : 'jpg',
});

/** Images and attached files of people. */
export const createFileService = (deps: FileServiceDeps) => {
  const { storage, fetch } = deps;
  const requireRoom = createRoom(deps);
  const turns = createImageTurns();
  const { read, open, openMarked, dropMarked, ...images } = createStoredImages(storage, deps.sign);
  const { isThere, ...named } = createNamedFiles(deps);
  const marked = (db: Executor, image: ImageKey) =>
    openMarked(image, (size) => noteMarked(db, image, size));
  const dropFile = async (row: Pick<store.FileRow, 'key' | 'kind' | 'mime'>): Promise<void> => {
    if (row.kind === 'image') await images.dropStored(imageOf(row));
    else await storage.delete(otherName(row.key));
  };
  return {
    ...createUploads({ ...deps, requireRoom, turns }),
    ...createPieces(deps, requireRoom),
    ...createOpenedFiles({ storage, fetch, images: { read }, turns }),
    ...images,
    ...named,
    keepToolFile: createMadeFiles({ storage, requireRoom }),

    /** Refuses more for whoever has no room left. @throws Refusal file_quota, storage_full */
    requireRoom: (db: Executor, user: Pick<Identity, 'id' | 'guest' | 'person'>): Promise<void> =>
      requireRoom(db, user, 0),

    /** An own image, or its thumbnail, to be sent to whoever knows its key. Null: there is none. */
    open: async (db: Executor, image: ImageKey, side: ThumbnailSide | null) =>
      (await isThere(db, image.key)) ? open(image, side) : null,

    /** Whether an image of this key is there. */
    isThere,

    /** The same with the words of its making on it, where a model made it. */
    openMarked: async (db: Executor, image: ImageKey) =>
      (await isThere(db, image.key)) ? marked(db, image) : null,

    /** An own image by its address with the words of its making on it; null: there is none. */
    async markedAt(db: Executor, url: string) {
      const image = ownImage(url);
      const found = image && (await isThere(db, image.key)) ? await marked(db, image) : null;
      if (!found || 'data' in found) return found;
      return { data: await buffer(found.stream), mime: found.mime };
    },

    /** A file of another kind and its name, to be sent to whoever knows its key. Null: there is none. */
    async openOther(db: Executor, key: string) {
      const row = await store.findOther(db, key);
      const found = row && (await storage.get(otherName(key)));
      return found && { ...found, name: row.name };
    },

    /** A person's own attached file as it came; null: it is kept no longer. */
    async attachedBytes(db: Executor, uuid: string, user: Pick<Identity, 'id'>) {
      const [row] = await store.findTexts(db, [uuid.toLowerCase()], user.id);
      const found = row && (await storage.get(otherName(row.key)));
      return found ? buffer(found.stream) : null;
    },

    /** Takes away an image wherever it came from, with the room that it takes of its owner's. */
    async dropImage(db: Executor, image: ImageKey): Promise<void> {
      await store.removeImage(db, image.key);
      await images.dropStored(image);
    },

    /** Gives a guest's files to the account that the guest became. */
    move: store.moveFiles,

    /** Somebody goes: gives what takes their files away, once their rows are gone. */
    async leave(tx: Executor, userId: number): Promise<() => Promise<void>> {
      const kept = await store.storedOf(tx, userId);
      return async () => {
        for (const row of kept) await dropFile(row);
      };
    },

    /** Clears away copies with words that were made a while ago: they are made anew when asked for. */
    async dropOldMarked(tx: Transaction): Promise<void> {
      const old = await oldMarked(tx);
      if (old.length === 0) return;
      for (const image of old) await dropMarked(image);
      await forgetMarked(tx, old);
    },

    /** Clears away files that for days nothing has named, as far as no area shows them. */
    async removeUnused(db: Executor, areas: readonly Shows[]): Promise<void> {
      const unseen = await store.longUnseen(db, 200);
      if (unseen.length === 0) return;
      const shown = new Set<string>();
      for (const shows of areas) for (const id of await shows(db, unseen)) shown.add(id);
      await store.markSeen(db, [...shown]);
      const unused = unseen.map(({ id }) => id).filter((id) => !shown.has(id));
      for (const row of await store.removeFiles(db, unused)) await dropFile(row);
    },
  };
};

export type FileService = ReturnType<typeof createFileService>;
