import type { Waiter } from '#server/fair-queue.ts';
import type { Aigc } from '#server/labels/aigc.ts';
import { labelledMp4 } from '#server/labels/mp4.ts';
import { labelledWebm } from '#server/labels/webm.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { thumbnailOf } from '../file/image.ts';
import type { Sign } from '../file/stored-images.ts';

const endings = { 'video/webm': 'webm', 'video/mp4': 'mp4' } as const;
export type FilmMime = keyof typeof endings;

/** The sides of small posters, px. */
export const posterSides = [128, 180, 200, 320, 640] as const;
export type PosterSide = (typeof posterSides)[number];
const wholePoster = 1280;

const filmKey = (key: string, mime: FilmMime): string => `${key}.${endings[mime]}`;
const posterKey = (key: string): string => `${key}.poster`;
const smallKey = (key: string, side: PosterSide): string => `${key}.w${side}`;

/** Addresses of a film and of its first image below this server. */
export const filmAddresses = (key: string, mime: FilmMime) => ({
  url: `/files/video/${key}.${endings[mime]}`,
  poster: `/files/video/${key}.webp`,
});

/** The files of films in the storage, by their random keys. */
export const createFilmFiles = (storage: Storage, sign: Sign) => ({
  filmKey,
  /**
   * Keeps a film and its first image with their label; gives the bytes of the film. A film that
   * cannot be labelled is kept as it came: it is paid for at the service.
   * @param unlabelled is told why
   * @throws Error where the poster is no image; the signal's reason
   */
  async keep(
    key: string,
    film: { data: Buffer; mime: FilmMime; poster: Buffer },
    label: Aigc,
    work: { signal: AbortSignal; owner: Waiter },
    unlabelled: (error: unknown) => void,
  ): Promise<number> {
    const poster = await thumbnailOf(film.poster, wholePoster, wholePoster, label);
    let { data } = film;
    try {
      data =
        film.mime === 'video/mp4'
          ? await sign(labelledMp4(film.data, label), film.mime)
          : await labelledWebm(film.data, label, work);
    } catch (error) {
      work.signal.throwIfAborted();
      unlabelled(error);
    }
    await storage.put(posterKey(key), poster, 'image/webp');
    await storage.put(filmKey(key, film.mime), data, film.mime);
    return data.length;
  },

  /** The first image, or a small one of it. Null: it is gone. */
  async poster(key: string, side: PosterSide | null): Promise<Buffer | null> {
    const read = async (name: string) => {
      const found = await storage.get(name);
      if (!found) return null;
      const chunks: Buffer[] = [];
      for await (const chunk of found.stream) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    };
    const small = side === null ? null : await read(smallKey(key, side));
    if (small) return small;
    const whole = await read(posterKey(key));
    if (!whole || side === null) return whole;
    const made = await thumbnailOf(whole, side, side);
    await storage.put(smallKey(key, side), made, 'image/webp');
    return made;
  },

  async drop(key: string): Promise<void> {
    for (const mime of Object.keys(endings) as FilmMime[]) await storage.delete(filmKey(key, mime));
    await storage.delete(posterKey(key));
    for (const side of posterSides) await storage.delete(smallKey(key, side));
  },
});

export type FilmFiles = ReturnType<typeof createFilmFiles>;
