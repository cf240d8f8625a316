import type { ImageType } from './image.ts';

/** Addresses of images, and the names under which the storage has them. */

export interface ImageKey {
  key: string;
  type: ImageType;
}

/** Most pixels of thumbnails, across and down; those of 320 stand in columns and may be longer. */
export const thumbnailSides = [128, 180, 320, 640] as const;
export type ThumbnailSide = (typeof thumbnailSides)[number];

export const isWebAddress = (url: string): boolean =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

export const isPublicUrl = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return protocol === 'https:' && username === '' && password === '';
};

const address = /^\/files\/([0-9a-f]{40})\.(jpg|png)$/;

/** Key and type in the address of an own image; null for every other address. */
export const ownImage = (url: string): ImageKey | null => {
  const [, key, type] = address.exec(url) ?? [];
  return key && type ? { key, type: type as ImageType } : null;
};

const otherAddress = /^\/files\/([0-9a-f]{40})\.bin$/;

/** The key in the address of a file of another kind; null for every other address. */
export const otherFile = (path: string): string | null => otherAddress.exec(path)?.[1] ?? null;
export const otherName = (key: string): string => `${key}.bin`;

/**
 * The same where the address may name a host, as people copy it: nobody guesses a key, so an image of
 * that key that is here is the one that is meant.
 */
export const namedImage = (url: string): ImageKey | null => {
  if (url.startsWith('/')) return ownImage(url.split('?')[0] ?? '');
  return isWebAddress(url) ? ownImage(new URL(url).pathname) : null;
};

export const imagePath = ({ key, type }: ImageKey): string => `/files/${key}.${type}`;
export const storageKey = ({ key, type }: ImageKey): string => `${key}.${type}`;
export const thumbnailKey = (key: string, side: ThumbnailSide): string => `${key}.${side}.webp`;
/** Asks for an image with the words of its making on it. */
export const markedQuery = '?marked=1';
export const markedKey = ({ key, type }: ImageKey): string => `${key}.marked.${type}`;
export const modelKey = (key: string): string => `${key}.low.jpg`;
