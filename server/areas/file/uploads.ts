import type { AttachedFile, MadeBy, UploadedImage } from '#contract/file.ts';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { countInThread } from '#server/engines/token-thread.ts';
import { type Identity, Refusal, type UploadedFile } from '#server/http/handlers.ts';
import {
  addressKey,
  createKeyLimit,
  createPersonLimit,
  networkKey,
} from '#server/http/rate-limit.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { newKey } from '#server/storage/storage.ts';
import { insertFile } from './file.store.ts';
import { type ImageKey, isWebAddress, otherName, storageKey } from './image-address.ts';
import type { ImageTurns } from './image-turns.ts';
import { imageMimes, renewImage, sniffImage, viewOf } from './image.ts';
import type { RequireRoom } from './room.ts';
import { readText } from './text.ts';

export interface UploadDeps {
  db: Executor;
  storage: Storage;
  fetch: GuardedFetch;
  /** Files that one person may bring in a minute. */
  uploadLimit: number;
  /** How long one document may take to be read, seconds. */
  documentSeconds: number;
  /** Makes an image of an upload; gives its number. */
  keepUploaded: (db: Executor, upload: UploadedRow) => Promise<number>;
  /** Why a picture may not be kept; null: it may. */
  checkPicture: (picture: Buffer, userId: number) => Promise<string | null>;
}

export interface UploadedRow extends ImageKey {
  uuid: string;
  userId: number;
  width: number;
  height: number;
  /** Bytes. */
  size: number;
  /** Whether a model made it, as far as it is known. */
  made: MadeBy | '';
}

/** What is left to do in the transaction once the slow work is done. @throws Refusal file_quota */
type Keep<T> = (db: Executor) => Promise<T>;

/** Images of the web that documents take in; and pixels of their longer side there. */
const documentImages = {
  maxBytes: 10 * 1024 * 1024,
  types: ['image/jpeg', 'image/jpg', 'image/png', 'image/webp', 'image/gif'],
};
export const documentSide = 1600;
/** Images of the web that are made anew; some services do not say that it is one. */
export const workTypes = ['image/jpeg', 'image/jpg', 'image/png', 'application/octet-stream', ''];

/** Images of other servers that one person, or the visitors of one address, look at in a minute. */
const foreignImages = 30;

/** As a name is shown: without folders, controls and marks that turn the direction of writing. */
export const cleanName = (name: string): string =>
  name
    .slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '')
    .trim()
    .slice(-200) || '未命名';

/** @throws Refusal upload_type, too_many */
const requireSafe = async (
  { checkPicture }: Pick<UploadDeps, 'checkPicture'>,
  data: Buffer,
  userId: number,
): Promise<void> => {
  const wrong = await checkPicture(data, userId);
  if (wrong !== null)
    throw new Refusal('upload_type', `图片没有通过内容安全检查（${wrong || '不合规'}），没有保存`);
};

const createForeignImage = (fetch: GuardedFetch, { whileHeld, inTurn }: ImageTurns) => {
  const limitViewer = createKeyLimit(foreignImages, 60, 'foreign images');
  /**
   * An image of another server for somebody to look at: made anew from its pixels, not kept.
   * @throws Refusal address_unreachable, too_many
   */
  return async (url: string, { user, ip }: { user: Identity | null; ip: string }) => {
    const known = user !== null && !user.guest;
    await limitViewer(known ? String(user.id) : addressKey(ip));
    const waiter = known ? user : { person: networkKey(ip), guest: true };
    return whileHeld(waiter, async () => {
      const found = isWebAddress(url) ? await fetch(url, documentImages) : null;
      if (!found) throw new Refusal('address_unreachable', '这张图片取不到');
      try {
        const { data, width, height } = await inTurn(waiter, () =>
          viewOf(found.data, documentSide),
        );
        const image = `data:image/webp;base64,${data.toString('base64')}`;
        return { image, width, height, size: found.data.length };
      } catch {
        throw new Refusal('address_unreachable', '这个地址的内容不是图片');
      }
    });
  };
};

/** What people bring: it is made anew first, and then kept in the transaction of their call. */
export const createUploads = (
  deps: UploadDeps & { requireRoom: RequireRoom; turns: ImageTurns },
) => {
  const { storage, fetch, requireRoom, turns } = deps;
  const limitPerson = createPersonLimit(deps.uploadLimit, 'uploads');

  /** Renews an image; what it gives then keeps it. */
  const prepareImage = async (
    data: Buffer,
    user: Identity,
    declared = false,
  ): Promise<Keep<UploadedImage>> => {
    const userId = user.id;
    const {
      data: bytes,
      type,
      width,
      height,
      made,
    } = await turns.inTurn(user, () => renewImage(data, declared));
    // What there is no room for is not judged: that costs.
    await requireRoom(deps.db, user, bytes.length, 0);
    await requireSafe(deps, bytes, userId);
    return async (db) => {
      const size = bytes.length;
      await requireRoom(db, user, size);
      const key = newKey();
      const mime = imageMimes[type];
      const file = { userId, key, width, height, size };
      const uuid = await insertFile(db, { ...file, kind: 'image', mime });
      const id = await deps.keepUploaded(db, { ...file, uuid, type, made });
      const name = storageKey({ key, type });
      await storage.put(name, bytes, mime);
      const url = `/files/${name}`;
      const sides = { width, height, size: `${width}x${height}` };
      return { id, uuid, url, ...sides, bytes: size, ...(made === '' ? {} : { made }) };
    };
  };

  return {
    /** @throws Refusal upload_type, upload_unreadable, too_large, too_many */
    async image(
      file: UploadedFile,
      user: Identity,
      declared = false,
    ): Promise<Keep<UploadedImage>> {
      await limitPerson(user.id);
      return prepareImage(file.data, user, declared);
    },

    /**
     * A file of any kind: an image is made anew, everything else is kept as it came and only ever
     * downloaded.
     * @throws Refusal upload_unreadable, too_large, too_many
     */
    async anyFile({ name, data }: UploadedFile, user: Identity): Promise<Keep<{ url: string }>> {
      await limitPerson(user.id);
      if (sniffImage(data) !== null) {
        if (data.length > limits.imageBytes) throw new Refusal('too_large', '图片不能超过 4 MB');
        return prepareImage(data, user);
      }
      return async (db) => {
        await requireRoom(db, user, data.length);
        const key = newKey();
        const mime = 'application/octet-stream';
        const file = { userId: user.id, key, name: cleanName(name), mime, size: data.length };
        await insertFile(db, { ...file, kind: 'other' });
        await storage.put(otherName(key), data, mime);
        return { url: `/files/${otherName(key)}` };
      };
    },

    /**
     * An image in a data URL, as a page has it after cropping.
     * @throws Refusal upload_type, upload_unreadable, too_large, too_many
     */
    async croppedImage(dataUrl: string, user: Identity): Promise<Keep<UploadedImage>> {
      await limitPerson(user.id);
      const [start] = /^data:image\/(?:png|jpe?g);base64,/i.exec(dataUrl) ?? [];
      if (start === undefined) throw new Refusal('upload_type', '只支持 jpg 和 png 图片');
      const data = Buffer.from(dataUrl.slice(start.length), 'base64');
      if (data.length > limits.imageBytes) throw new Refusal('too_large', '图片不能超过 4 MB');
      return prepareImage(data, user);
    },

    /** Fetches a public image. @throws Refusal address_unreachable, too_many */
    async imageByUrl(url: string, user: Identity): Promise<Keep<UploadedImage>> {
      await limitPerson(user.id);
      return turns.whileHeld(user, async () => {
        const found = await fetch(url, { maxBytes: limits.imageBytes, types: workTypes });
        if (!found) throw new Refusal('address_unreachable');
        try {
          return await prepareImage(found.data, user);
        } catch (error) {
          if (error instanceof Refusal && error.codeName !== 'too_many')
            throw new Refusal('address_unreachable');
          throw error;
        }
      });
    },

    foreignImage: createForeignImage(fetch, turns),

    /**
     * What is written on an image (a data URL), with a note that it was read off it: for a model that
     * sees nothing. @throws Refusal upload_unreadable, too_many
     */
    async wordsOnImage(image: string, owner: Identity, signal: AbortSignal): Promise<string> {
      const data = Buffer.from(image.slice(image.indexOf(',') + 1), 'base64');
      const reading = { seconds: deps.documentSeconds, owner, signal };
      return (await readText('image.jpg', data, reading)).text;
    },

    /** @throws Refusal upload_type, upload_unreadable, too_many */
    async text(file: UploadedFile, user: Identity): Promise<Keep<AttachedFile>> {
      await limitPerson(user.id);
      const name = cleanName(file.name);
      const reading = { seconds: deps.documentSeconds, owner: user };
      const { mime, text, cut } = await readText(name, file.data, reading);
      const size = file.data.length;
      const [tokens] = await countInThread([text]);
      return async (db) => {
        await requireRoom(db, user, size);
        const shown = { name, mime, size, cut };
        const key = newKey();
        const uuid = await insertFile(db, {
          ...shown,
          userId: user.id,
          kind: 'text',
          key,
          text,
          tokens: tokens ?? null,
        });
        // It is read as it came where it is translated; nobody gets it by an address.
        await storage.put(otherName(key), file.data, 'application/octet-stream');
        return { uuid, ...shown, chars: text.length, ...(tokens === undefined ? {} : { tokens }) };
      };
    },
  };
};
