import { buffer } from 'node:stream/consumers';
import type { StructuredMessage } from '../../../contract/chat.ts';
import type { AttachedFile, UploadedImage } from '../../../contract/file.ts';
import { limits } from '../../../contract/limits.ts';
import type { Executor } from '../../db/database.ts';
import type { ContentPart } from '../../../common/chat-message.ts';
import { networkOf, type Owners } from '../../db/person.ts';
import { createFairQueue } from '../../fair-queue.ts';
import type { GuardedFetch } from '../../net/guarded-fetch.ts';
import { type Identity, Refusal, type UploadedFile } from '../../http/handlers.ts';
import { countInThread } from '../../engines/token-thread.ts';
import { addressKey, createKeyLimit, createPersonLimit } from '../../http/rate-limit.ts';
import type { Settings } from '../../settings.ts';
import type { DiskRoom } from '../../storage/disk-room.ts';
import type { Storage } from '../../storage/storage-interface.ts';
import type { StoredFile } from '../../storage/storage-interface.ts';
import { newKey } from '../../storage/storage.ts';
import * as store from './file.store.ts';
import {
  imageMimes,
  jpegOf,
  type ImageType,
  type Image,
  pngOf,
  renewImage,
  sentForModel,
  shrinkForModel,
  thumbnailOf,
  viewOf,
} from './image.ts';
import { parametersKeyword, withPngText } from './png-text.ts';
import type { Shows } from './shown.ts';
import { readText } from './text.ts';

export interface FileServiceDeps {
  storage: Storage;
  fetch: GuardedFetch;
  /** Most bytes that the files of one person take, of the guests of one network, and of all guests. */
  quota: number;
  guestQuota: Settings['guestQuota'];
  disk: DiskRoom;
  /** Files that one person may bring in a minute. */
  uploadLimit: number;
  /** How long one document may take to be read, seconds. */
  documentSeconds: number;
  /** Makes an image of an upload; gives its number. */
  keepUploaded: (
    db: Executor,
    upload: {
      uuid: string;
      userId: number;
      key: string;
      type: ImageType;
      width: number;
      height: number;
      size: number;
    },
  ) => Promise<number>;
  /** What the area of images knows of a file's key. */
  stateOfFile: (db: Executor, key: string) => Promise<'there' | 'deleted' | 'unknown'>;
  /** Bytes of the images that were drawn. */
  drawnBytes: (db: Executor, owners: Owners) => Promise<number>;
}

/** What is left to do in the transaction once the slow work is done. */
type Keep<T> = (db: Executor) => Promise<T>;

/** Most pixels of thumbnails, across and down; those of 320 stand in columns and may be longer. */
export const thumbnailSides = [128, 180, 320, 640] as const;
export type ThumbnailSide = (typeof thumbnailSides)[number];

const columnWidth: ThumbnailSide = 320;

/** Images of the web that documents take in; and pixels of their longer side there. */
const documentImages = {
  maxBytes: 10 * 1024 * 1024,
  types: ['image/jpeg', 'image/jpg', 'image/png', 'image/webp', 'image/gif'],
};
const documentSide = 1600;

/** Images of the web that others are made from. */
const workImages = {
  maxBytes: 10 * 1024 * 1024,
  types: ['image/jpeg', 'image/jpg', 'image/png', 'application/octet-stream', ''],
};
/** Images of other servers that one person, or the visitors of one address, look at in a minute. */
const foreignImages = 30;
/** Most pixels of a preview, across and down. */
const previewSide = 320;

/** Images that people brought and that are made anew at once; what one person may have waiting. */
const renewedAtOnce = 2;
const mostWaiting = 12;

/** How long it is believed how much all guests keep, ms: to sum it up takes a while. */
const summedForMs = 60_000;
const guestsFull = '访客的文件空间已满，登录之后才能继续上传和画图';

const isWebAddress = (url: string): boolean =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const address = /^\/files\/([0-9a-f]{40})\.(jpg|png)$/;

/** Key and type in the address of an own image; null for every other address. */
export const ownImage = (url: string): { key: string; type: ImageType } | null => {
  const [, key, type] = address.exec(url) ?? [];
  return key && type ? { key, type: type as ImageType } : null;
};

/**
 * The same where the address may name a host, as people copy it: nobody guesses a key, so an image of
 * that key that is here is the one that is meant.
 */
export const namedImage = (url: string): { key: string; type: ImageType } | null =>
  ownImage(
    url.startsWith('/')
      ? (url.split('?')[0] ?? '')
      : isWebAddress(url)
        ? new URL(url).pathname
        : '',
  );

const isPublicUrl = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return protocol === 'https:' && username === '' && password === '';
};

const storageKey = (key: string, type: ImageType): string => `${key}.${type}`;
const thumbnailKey = (key: string, side: ThumbnailSide): string => `${key}.${side}.webp`;
const modelKey = (key: string): string => `${key}.low.jpg`;

/** As a name is shown: without folders, controls and marks that turn the direction of writing. */
export const cleanName = (name: string): string =>
  name
    .slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '')
    .trim()
    .slice(-200) || '未命名';

/** Images and attached files of people. */
export const createFileService = (deps: FileServiceDeps) => {
  const { storage, fetch, quota, guestQuota } = deps;
  const limitPerson = createPersonLimit(deps.uploadLimit);
  const limitViewer = createKeyLimit(foreignImages);
  const inTurn = createFairQueue(renewedAtOnce, mostWaiting);

  const bytesOf = async (db: Executor, owners: Owners): Promise<number> =>
    (await store.usedBytes(db, owners)) + (await deps.drawnBytes(db, owners));

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

  const requireRoom = async (db: Executor, user: Identity, size: number): Promise<void> => {
    await deps.disk.require(user);
    if ((await bytesOf(db, { userId: user.id })) + size > quota) throw new Refusal('file_quota');
    if (user.guest) await requireRoomOfGuests(db, networkOf(user.person), size);
  };

  /** Renews an image; what it gives then keeps it. */
  const prepareImage = async (data: Buffer, user: Identity): Promise<Keep<UploadedImage>> => {
    const userId = user.id;
    const renewed = await inTurn(user, () => renewImage(data));
    return async (db) => {
      await requireRoom(db, user, renewed.data.length);
      const key = newKey();
      const mime = imageMimes[renewed.type];
      const file = { width: renewed.width, height: renewed.height, size: renewed.data.length };
      const uuid = await store.insertFile(db, { userId, kind: 'image', key, mime, ...file });
      const { type } = renewed;
      const id = await deps.keepUploaded(db, { uuid, userId, key, type, ...file });
      await storage.put(storageKey(key, renewed.type), renewed.data, mime);
      const { width, height, size: bytes } = file;
      const url = `/files/${storageKey(key, renewed.type)}`;
      return { id, uuid, url, width, height, size: `${width}x${height}`, bytes };
    };
  };

  const readWhole = async (key: string): Promise<Buffer | null> => {
    const found = await storage.get(key);
    return found && buffer(found.stream);
  };

  /** Thumbnails that are being made, so that many readers of a new one make it once. */
  const making = new Map<string, Promise<Buffer | null>>();
  const makeThumbnail = (key: string, type: ImageType, side: ThumbnailSide) => {
    const name = thumbnailKey(key, side);
    const running = making.get(name);
    if (running) return running;
    const made = (async () => {
      const data = await readWhole(storageKey(key, type));
      return data && thumbnailOf(data, side, side === columnWidth ? side * 4 : side);
    })();
    making.set(name, made);
    // Whoever waits need not wait for the disk; what could not be kept is made again.
    void made
      .then((small) => small && storage.put(name, small, 'image/webp'))
      .catch(() => undefined)
      .finally(() => making.delete(name));
    return made;
  };

  /** The image as models get it; a small copy is made once and kept. */
  const forModel = async (
    { key, type }: { key: string; type: ImageType },
    detail: 'low' | 'high',
  ): Promise<string | null> => {
    const small = detail === 'low' ? await readWhole(modelKey(key)) : null;
    if (small) return `data:${imageMimes.jpg};base64,${small.toString('base64')}`;
    const whole = await readWhole(storageKey(key, type));
    if (!whole) return null;
    const { data, mime } = await shrinkForModel(whole, type, detail);
    if (detail === 'low' && data !== whole) await storage.put(modelKey(key), data, mime);
    return `data:${mime};base64,${data.toString('base64')}`;
  };

  /** Takes an image out of the storage, and what was made smaller of it. */
  const dropFiles = async (key: string, type: ImageType): Promise<void> => {
    const names = [
      storageKey(key, type),
      modelKey(key),
      ...thumbnailSides.map((side) => thumbnailKey(key, side)),
    ];
    for (const name of names) await storage.delete(name);
  };

  /** Whether an image of this key may still be shown: what was deleted is gone at once. */
  const isThere = async (db: Executor, key: string): Promise<boolean> => {
    const state = await deps.stateOfFile(db, key);
    return state === 'unknown' ? store.hasImage(db, key) : state === 'there';
  };

  /** Keeps those of these images that are there from being cleared away; gives their keys. */
  const touch = async (db: Executor, keys: string[]): Promise<Set<string>> => {
    const there = new Set<string>();
    if (keys.length > 0) await store.touchImages(db, keys);
    for (const key of new Set(keys)) if (await isThere(db, key)) there.add(key);
    return there;
  };

  return {
    /** Refuses more for whoever has no room left. @throws Refusal file_quota, storage_full */
    requireRoom: (db: Executor, user: Identity): Promise<void> => requireRoom(db, user, 0),

    /** @throws Refusal upload_type, upload_unreadable, too_large, file_quota, too_many */
    async image(file: UploadedFile, user: Identity): Promise<Keep<UploadedImage>> {
      await limitPerson(user.id);
      return prepareImage(file.data, user);
    },

    /**
     * An image in a data URL, as a page has it after cropping.
     * @throws Refusal upload_type, upload_unreadable, too_large, file_quota, too_many
     */
    async croppedImage(dataUrl: string, user: Identity): Promise<Keep<UploadedImage>> {
      await limitPerson(user.id);
      const [start] = /^data:image\/(?:png|jpe?g);base64,/i.exec(dataUrl) ?? [];
      if (start === undefined) throw new Refusal('upload_type', '只支持 jpg 和 png 图片');
      const data = Buffer.from(dataUrl.slice(start.length), 'base64');
      if (data.length > limits.imageBytes) throw new Refusal('too_large', '图片不能超过 4 MB');
      return prepareImage(data, user);
    },

    /** Fetches a public image. @throws Refusal address_unreachable, file_quota, too_many */
    async imageByUrl(url: string, user: Identity): Promise<Keep<UploadedImage>> {
      await limitPerson(user.id);
      const found = await fetch(url, {
        maxBytes: limits.imageBytes,
        types: ['image/jpeg', 'image/png', 'image/jpg', 'application/octet-stream', ''],
      });
      if (!found) throw new Refusal('address_unreachable');
      try {
        return await prepareImage(found.data, user);
      } catch (error) {
        if (error instanceof Refusal) throw new Refusal('address_unreachable');
        throw error;
      }
    },

    /**
     * An image of another server for somebody to look at: made anew from its pixels, not kept.
     * @throws Refusal address_unreachable, too_many
     */
    async foreignImage(url: string, { user, ip }: { user: Identity | null; ip: string }) {
      await limitViewer(user ? String(user.id) : addressKey(ip));
      const found = isWebAddress(url) ? await fetch(url, documentImages) : null;
      if (!found) throw new Refusal('address_unreachable', '这张图片取不到');
      try {
        const { data, width, height } = await viewOf(found.data, documentSide);
        const image = `data:image/webp;base64,${data.toString('base64')}`;
        return { image, width, height, size: found.data.length };
      } catch {
        throw new Refusal('address_unreachable', '这个地址的内容不是图片');
      }
    },

    /** @throws Refusal upload_type, upload_unreadable, file_quota, too_many */
    async text(file: UploadedFile, user: Identity): Promise<Keep<AttachedFile>> {
      await limitPerson(user.id);
      const name = cleanName(file.name);
      const { mime, text, cut } = await readText(name, file.data, {
        seconds: deps.documentSeconds,
        owner: user,
      });
      const size = file.data.length;
      const [tokens] = await countInThread([text]);
      return async (db) => {
        await requireRoom(db, user, size);
        const uuid = await store.insertFile(db, {
          userId: user.id,
          kind: 'text',
          key: newKey(),
          name,
          mime,
          size,
          text,
          cut,
          tokens: tokens ?? null,
        });
        return {
          uuid,
          name,
          mime,
          size,
          chars: text.length,
          ...(tokens === undefined ? {} : { tokens }),
          cut,
        };
      };
    },

    /**
     * What a message that is being sent refers to, checked and kept from being cleared away: own
     * images must be there, others' be public https addresses, texts be the person's own. Gives
     * them with the true names and sizes. To be called in the message's transaction.
     * @throws Refusal bad_input
     */
    async take(
      db: Executor,
      { images, files }: Pick<StructuredMessage, 'images' | 'files'>,
      userId: number,
    ): Promise<Pick<StructuredMessage, 'images' | 'files'>> {
      const keys = images.flatMap((url) => ownImage(url)?.key ?? []);
      const there = await touch(db, keys);
      for (const url of images) {
        const own = ownImage(url);
        if (own ? !there.has(own.key) : !isPublicUrl(url))
          throw new Refusal('bad_input', 'images：图片不存在或已过期，请重新上传');
      }
      const ids = files.map(({ uuid }) => uuid.toLowerCase());
      const found = ids.length > 0 ? await store.touchTexts(db, ids, userId) : [];
      return {
        images,
        files: ids.map((id) => {
          const row = found.find((each) => each.id === id);
          if (!row) throw new Refusal('bad_input', 'files：附件不存在或已过期，请重新上传');
          const { name, size, chars, tokens } = row;
          return { uuid: id, name, size, chars, ...(tokens === null ? {} : { tokens }) };
        }),
      };
    },

    /**
     * Refuses addresses of images that are not there: own ones must be, others be of the web; they
     * are fetched when they are needed. To be called in the transaction of what refers to them.
     * @throws Refusal bad_input
     */
    async takeImages(db: Executor, urls: readonly string[]): Promise<void> {
      const there = await touch(
        db,
        urls.flatMap((url) => namedImage(url)?.key ?? []),
      );
      for (const url of urls) {
        const named = namedImage(url);
        // One that is here no longer, or never was: of another host's it is told when it is fetched.
        const lost =
          named !== null &&
          !there.has(named.key) &&
          (!isWebAddress(url) || (await deps.stateOfFile(db, named.key)) === 'deleted');
        if (lost || (named === null && !isWebAddress(url)))
          throw new Refusal('bad_input', 'images：图片不存在或已过期，请重新选择');
      }
    },

    /**
     * An image to work with: an own one, or one of the web by the guarded way; upright, as PNG or
     * JPEG. Null where it cannot be had.
     */
    async imageAt(url: string, signal: AbortSignal): Promise<Image | null> {
      const named = namedImage(url);
      const kept = named && (await readWhole(storageKey(named.key, named.type)));
      const data =
        kept ??
        (isWebAddress(url) ? ((await fetch(url, { ...workImages, signal }))?.data ?? null) : null);
      if (!data) return null;
      try {
        return await renewImage(data);
      } catch (error) {
        if (error instanceof Refusal) return null;
        throw error;
      }
    },

    /**
     * Keeps an image that was made here as PNG with a text in it, below a new key; gives its size.
     * @throws Error for what is no image
     */
    async keepMade(key: string, data: Buffer, text: string) {
      const drawn = await pngOf(data);
      const png = withPngText(drawn.data, parametersKeyword, text);
      await storage.put(storageKey(key, 'png'), png, imageMimes.png);
      return { key, width: drawn.width, height: drawn.height, size: png.length };
    },

    /** Takes away an image that was made here, and what was made from it. */
    /** An image's files alone; its rows are taken away elsewhere. */
    dropStored: dropFiles,

    /** Somebody goes: gives what takes their files away, once their rows are gone. */
    async leave(tx: Executor, userId: number): Promise<() => Promise<void>> {
      const kept = await store.imagesOf(tx, userId);
      return async () => {
        for (const { key, mime } of kept)
          await dropFiles(key, mime === imageMimes.png ? 'png' : 'jpg');
      };
    },

    dropMade: (key: string): Promise<void> => dropFiles(key, 'png'),

    /** Takes away an image wherever it came from, with the room that it takes of its owner's. */
    async dropImage(db: Executor, key: string, type: ImageType): Promise<void> {
      await store.removeImage(db, key);
      await dropFiles(key, type);
    },

    /** A small image of one that is being made, as a data URL. @throws Error: no image */
    async preview(data: Buffer): Promise<string> {
      const small = await thumbnailOf(data, previewSide, previewSide);
      return `data:image/webp;base64,${small.toString('base64')}`;
    },

    /**
     * An image of the web, fetched by the guarded way, or one that stands in its address, as models
     * get it: a data URL. Null where it cannot be had.
     */
    async imageForModel(
      url: string,
      detail: 'low' | 'high',
      signal: AbortSignal,
    ): Promise<string | null> {
      const inline = /^data:image\/(png|jpe?g|webp|gif);base64,/i.exec(url);
      if (inline) {
        const sent = Buffer.from(url.slice(inline[0].length), 'base64');
        return sentForModel(sent, detail).then(
          ({ data, mime }) => `data:${mime};base64,${data.toString('base64')}`,
          () => null,
        );
      }
      if (!isPublicUrl(url)) return null;
      const found = await fetch(url, { ...workImages, signal });
      if (!found) return null;
      try {
        const renewed = await renewImage(found.data);
        const { data, mime } = await shrinkForModel(renewed.data, renewed.type, detail);
        return `data:${mime};base64,${data.toString('base64')}`;
      } catch (error) {
        if (error instanceof Refusal) return null;
        throw error;
      }
    },

    /**
     * Images of a stored message as pieces for a model: own ones as data URLs, others by their
     * addresses for now, see `imageForModel`. One that is gone is left out.
     */
    async imagesForModel(urls: readonly string[], detail: 'low' | 'high'): Promise<ContentPart[]> {
      const parts: ContentPart[] = [];
      for (const url of urls) {
        const own = ownImage(url);
        const ready = own ? await forModel(own, detail) : isPublicUrl(url) ? url : null;
        if (ready) parts.push({ type: 'image_url', image_url: { url: ready, detail } });
      }
      return parts;
    },

    /**
     * Texts of a stored message, in their order, as pieces for a model. They are read as its author's:
     * whatever way an id came into a message, it opens nothing of anybody else. One that is gone or
     * not theirs is left out.
     */
    async textsForModel(
      db: Executor,
      uuids: readonly string[],
      authorId: number,
    ): Promise<ContentPart[]> {
      const rows = uuids.length > 0 ? await store.findTexts(db, [...uuids], authorId) : [];
      return uuids.flatMap((uuid): ContentPart[] => {
        const row = rows.find(({ id }) => id === uuid);
        return row ? [{ type: 'file', name: row.name, text: row.text, cut: row.cut }] : [];
      });
    },

    /**
     * An image as a JPEG for a document: an own one, or one that stands in its address. Null where
     * it cannot be had. Nothing is fetched: the address of a stranger's words would tell its owner
     * who reads them, and when.
     */
    async jpegForDocument(url: string): Promise<Buffer | null> {
      try {
        const own = namedImage(url);
        const inline = /^data:image\/(?:png|jpeg|gif|webp);base64,/i.exec(url);
        let data: Buffer | null = null;
        if (own) data = await readWhole(storageKey(own.key, own.type));
        else if (inline) data = Buffer.from(url.slice(inline[0].length), 'base64');
        return data && (await jpegOf(data, documentSide));
      } catch {
        return null;
      }
    },

    /** What a person's own file says. @throws Refusal not_found */
    async attachedText(db: Executor, uuid: string, user: Identity) {
      const [row] = await store.findTexts(db, [uuid.toLowerCase()], user.id);
      if (!row) throw new Refusal('not_found', '这个文件已经不在了');
      return { name: row.name, text: row.text, cut: row.cut };
    },

    /** An own image, or its thumbnail, to be sent to whoever knows its key. Null: there is none. */
    async open(
      db: Executor,
      key: string,
      type: ImageType,
      side: ThumbnailSide | null,
    ): Promise<(StoredFile & { mime: string }) | { data: Buffer; mime: string } | null> {
      if (!(await isThere(db, key))) return null;
      if (side === null) {
        const found = await storage.get(storageKey(key, type));
        return found && { ...found, mime: imageMimes[type] };
      }
      const mime = 'image/webp';
      const kept = await storage.get(thumbnailKey(key, side));
      if (kept) return { ...kept, mime };
      const data = await makeThumbnail(key, type, side);
      return data && { data, mime };
    },

    /** Gives a guest's files to the account that the guest became. */
    move: store.moveFiles,

    /** Clears away files that for days nothing has named, as far as no area shows them. */
    async removeUnused(db: Executor, areas: readonly Shows[]): Promise<void> {
      const unseen = await store.longUnseen(db, 200);
      if (unseen.length === 0) return;
      const shown = new Set<string>();
      for (const shows of areas) for (const id of await shows(db, unseen)) shown.add(id);
      await store.markSeen(db, [...shown]);
      const unused = unseen.map(({ id }) => id).filter((id) => !shown.has(id));
      for (const { key, kind, mime } of await store.removeFiles(db, unused)) {
        if (kind !== 'image') continue;
        await dropFiles(key, mime === imageMimes.png ? 'png' : 'jpg');
      }
    },
  };
};

export type FileService = ReturnType<typeof createFileService>;
