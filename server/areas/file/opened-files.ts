import type { ContentPart } from '#common/chat-message.ts';
import type { Executor } from '#server/db/database.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { findTexts } from './file.store.ts';
import {
  type ImageKey,
  isPublicUrl,
  isWebAddress,
  modelKey,
  namedImage,
  ownImage,
  storageKey,
} from './image-address.ts';
import {
  type Image,
  imageMimes,
  jpegOf,
  renewImage,
  sentForModel,
  shrinkForModel,
} from './image.ts';
import type { ImageTurns } from './image-turns.ts';
import type { StoredImages } from './stored-images.ts';
import { documentSide, workTypes } from './uploads.ts';

interface Deps {
  storage: Storage;
  fetch: GuardedFetch;
  images: Pick<StoredImages, 'read'>;
  turns: ImageTurns;
}

/** Images of the web that others are made from. */
const workImages = { maxBytes: 10 * 1024 * 1024, types: workTypes };

const dataUrl = ({ data, mime }: { data: Buffer; mime: string }): string =>
  `data:${mime};base64,${data.toString('base64')}`;

/** The bytes of an image that stands in its address; null for every other address. */
const inlineImage = (url: string): Buffer | null => {
  const [start] = /^data:image\/(?:png|jpe?g|webp|gif);base64,/i.exec(url) ?? [];
  return start === undefined ? null : Buffer.from(url.slice(start.length), 'base64');
};

/** An image made anew; null for what is none. */
const renewed = async (data: Buffer): Promise<Image | null> => {
  try {
    return await renewImage(data);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** Files as models, engines and documents take them. */
export const createOpenedFiles = ({ storage, fetch, images, turns }: Deps) => {
  /** An own image as models get it; a small copy is made once and kept. */
  const forModel = async (image: ImageKey, detail: 'low' | 'high'): Promise<string | null> => {
    const small = detail === 'low' ? await images.read(modelKey(image.key)) : null;
    if (small) return dataUrl({ data: small, mime: imageMimes.jpg });
    const whole = await images.read(storageKey(image));
    if (!whole) return null;
    const { data, mime } = await shrinkForModel(whole, image.type, detail);
    if (detail === 'low' && data !== whole) await storage.put(modelKey(image.key), data, mime);
    return dataUrl({ data, mime });
  };

  return {
    /**
     * An image to work with: an own one, or one of the web by the guarded way; upright, as PNG or
     * JPEG. Null where it cannot be had.
     */
    async imageAt(url: string, signal: AbortSignal, owner: Waiter): Promise<Image | null> {
      const named = namedImage(url);
      const own = named && (await images.read(storageKey(named)));
      if (own) return renewed(own);
      if (!isWebAddress(url)) return null;
      return turns.whileHeld(owner, async () => {
        const found = await fetch(url, { ...workImages, signal });
        return found && turns.inTurn(owner, () => renewed(found.data));
      });
    },

    /**
     * An image of the web, fetched by the guarded way, or one that stands in its address, as models
     * get it: a data URL. Null where it cannot be had.
     */
    async imageForModel(
      url: string,
      detail: 'low' | 'high',
      { signal, owner }: { signal: AbortSignal; owner: Waiter },
    ): Promise<string | null> {
      return turns.whileHeld(owner, async () => {
        const inline = inlineImage(url);
        if (inline)
          return turns.inTurn(owner, () => sentForModel(inline, detail).then(dataUrl, () => null));
        if (!isPublicUrl(url)) return null;
        const found = await fetch(url, { ...workImages, signal });
        return (
          found &&
          turns.inTurn(owner, async () => {
            const image = await renewed(found.data);
            return image && dataUrl(await shrinkForModel(image.data, image.type, detail));
          })
        );
      });
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
      const rows = uuids.length > 0 ? await findTexts(db, [...uuids], authorId) : [];
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
        const data = own ? await images.read(storageKey(own)) : inlineImage(url);
        return data && (await jpegOf(data, documentSide));
      } catch {
        return null;
      }
    },
  };
};
