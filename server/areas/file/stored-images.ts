import { buffer } from 'node:stream/consumers';
import type { Aigc } from '#server/labels/aigc.ts';
import { labelledImage, labelledPng } from '#server/labels/image.ts';
import { parametersKeyword, withPngText } from '#server/labels/png-text.ts';
import type { Storage, StoredFile } from '#server/storage/storage-interface.ts';
import {
  type ImageKey,
  markedKey,
  modelKey,
  storageKey,
  thumbnailKey,
  type ThumbnailSide,
  thumbnailSides,
} from './image-address.ts';
import { imageMimes, markedOf, pngOf, thumbnailOf } from './image.ts';

const columnWidth: ThumbnailSide = 320;
/** Most pixels of a preview, across and down. */
const previewSide = 320;
const webp = 'image/webp';

/** A made file with a manifest of who made it, or as it came where nothing is set for that. */
export type Sign = (data: Buffer, mime: string) => Promise<Buffer>;

export type StoredImages = ReturnType<typeof createStoredImages>;

/** Images in the storage, with what is made smaller of them. */
export const createStoredImages = (storage: Storage, sign: Sign) => {
  /** All bytes of a file; null: there is none of this name. */
  const read = async (name: string): Promise<Buffer | null> => {
    const found = await storage.get(name);
    return found && buffer(found.stream);
  };

  /** Thumbnails that are being made, so that many readers of a new one make it once. */
  const making = new Map<string, Promise<Buffer | null>>();
  const makeThumbnail = (image: ImageKey, side: ThumbnailSide): Promise<Buffer | null> => {
    const name = thumbnailKey(image.key, side);
    const running = making.get(name);
    if (running) return running;
    const made = (async () => {
      const data = await read(storageKey(image));
      return data && thumbnailOf(data, side, side === columnWidth ? side * 4 : side);
    })();
    making.set(name, made);
    // Whoever waits need not wait for the disk; what could not be kept is made again.
    void made
      .then((small) => small && storage.put(name, small, webp))
      .catch(() => undefined)
      .finally(() => making.delete(name));
    return made;
  };

  /** The same of images with words on them. */
  const marking = new Map<string, Promise<Buffer | null>>();
  const makeMarked = (
    image: ImageKey,
    note: (size: number) => Promise<void>,
  ): Promise<Buffer | null> => {
    const name = markedKey(image);
    const running = marking.get(name);
    if (running) return running;
    const made = (async () => {
      const whole = await read(storageKey(image));
      const marked = whole && (await markedOf(whole));
      return marked && sign(marked, imageMimes[image.type]);
    })();
    marking.set(name, made);
    const store = async (): Promise<void> => {
      const marked = await made;
      if (!marked) return;
      await note(marked.length);
      await storage.put(name, marked, imageMimes[image.type]);
    };
    void store()
      .catch(() => undefined)
      .finally(() => marking.delete(name));
    return made;
  };

  return {
    read,

    /** An image, or its thumbnail, to be sent. Null: there is none. */
    open: async (
      image: ImageKey,
      side: ThumbnailSide | null,
    ): Promise<(StoredFile & { mime: string }) | { data: Buffer; mime: string } | null> => {
      if (side === null) {
        const found = await storage.get(storageKey(image));
        return found && { ...found, mime: imageMimes[image.type] };
      }
      const kept = await storage.get(thumbnailKey(image.key, side));
      if (kept) return { ...kept, mime: webp };
      const data = await makeThumbnail(image, side);
      return data && { data, mime: webp };
    },

    /**
     * Keeps an image that was made here as PNG with a text and its label in it, below a new key;
     * gives its size.
     * @throws Error for what is no image
     */
    async keepMade(key: string, data: Buffer, { text, label }: { text: string; label: Aigc }) {
      const drawn = await pngOf(data);
      const labelled = labelledPng(withPngText(drawn.data, parametersKeyword, text), label);
      const png = await sign(labelled, imageMimes.png);
      await storage.put(storageKey({ key, type: 'png' }), png, imageMimes.png);
      return { key, width: drawn.width, height: drawn.height, size: png.length };
    },

    /**
     * An image with the words of its making on it, or as it is where a person made it. Null: none.
     * What is kept is a stream: readers who are slow must not have it all in memory.
     * @param note is told the bytes of a new one before it is kept
     */
    openMarked: async (
      image: ImageKey,
      note: (size: number) => Promise<void>,
    ): Promise<(StoredFile & { mime: string }) | { data: Buffer; mime: string } | null> => {
      const mime = imageMimes[image.type];
      const kept = await storage.get(markedKey(image));
      if (kept) return { ...kept, mime };
      const data = await makeMarked(image, note);
      if (data) return { data, mime };
      const whole = await storage.get(storageKey(image));
      return whole && { ...whole, mime };
    },

    /**
     * Writes a label into an image that is kept; its pixels are not touched. What was made smaller of
     * it goes, to be made again with the label. False: there is none.
     */
    async relabel(image: ImageKey, label: Aigc): Promise<boolean> {
      const data = await read(storageKey(image));
      if (!data) return false;
      await storage.put(
        storageKey(image),
        labelledImage(data, image.type, label),
        imageMimes[image.type],
      );
      for (const side of thumbnailSides) await storage.delete(thumbnailKey(image.key, side));
      await storage.delete(markedKey(image));
      return true;
    },

    /** A small image of one that is being made, as a data URL. @throws Error: no image */
    async preview(data: Buffer): Promise<string> {
      const small = await thumbnailOf(data, previewSide, previewSide);
      return `data:${webp};base64,${small.toString('base64')}`;
    },

    /** Takes the copy with words out of the storage. */
    dropMarked: (image: ImageKey): Promise<void> => storage.delete(markedKey(image)),

    /** Takes an image out of the storage, and what was made smaller of it; its rows stay. */
    async dropStored(image: ImageKey): Promise<void> {
      const smaller = thumbnailSides.map((side) => thumbnailKey(image.key, side));
      for (const name of [storageKey(image), markedKey(image), modelKey(image.key), ...smaller])
        await storage.delete(name);
    },
  };
};
