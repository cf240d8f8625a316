import { buffer } from 'node:stream/consumers';
import type { Out } from '#contract/calls.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { drawPage } from '#server/reading/draw-page.ts';
import type { Storage } from '#server/storage/storage-interface.ts';

type Drawn = Out<'passagePage'>;

/** Pages that are kept drawn, some hundred kilobytes each: several readers open the same source. */
const most = 24;

/** What cannot be drawn is not tried again for so long, ms, and how many of those are known. */
const restMs = 10 * 60_000;
const mostFailed = 1000;

const forgetOldest = (from: Map<string, unknown>, most: number): void => {
  const [oldest] = from.keys();
  if (from.size > most && oldest !== undefined) from.delete(oldest);
};

/** Draws pages of stored files. */
export const createOriginals = (storage: Storage, seconds: number) => {
  const kept = new Map<string, Drawn>();
  /** When it failed, ms. */
  const failed = new Map<string, number>();
  const drawing = new Map<string, Promise<Drawn | null>>();

  const make = async (key: string, page: number | null, owner: Waiter): Promise<Drawn | null> => {
    const name = `${key} ${page}`;
    let found = false;
    const read = async () => {
      const file = await storage.get(key);
      found = file !== null;
      return file && { data: new Uint8Array(await buffer(file.stream)), page };
    };
    const drawn = await drawPage(read, { seconds, owner });
    if (!drawn) {
      if (found) failed.set(name, Date.now());
      forgetOldest(failed, mostFailed);
      return null;
    }
    const { picture, ...rest } = drawn;
    const base64 = Buffer.from(picture).toString('base64');
    const told = { ...rest, picture: `data:image/webp;base64,${base64}` };
    kept.set(name, told);
    forgetOldest(kept, most);
    return told;
  };

  return {
    /**
     * A page of a file that is stored under `key`; `page` null: it is a picture itself. Many readers
     * of one page wait for the same drawing.
     * @returns null where it cannot be drawn
     * @throws Refusal too_many
     */
    draw: async (
      { key, page }: { key: string; page: number | null },
      owner: Waiter,
    ): Promise<Drawn | null> => {
      const name = `${key} ${page}`;
      const known = kept.get(name);
      if (known) return known;
      if (Date.now() - (failed.get(name) ?? -Infinity) < restMs) return null;
      failed.delete(name);
      const running = drawing.get(name);
      if (running) return running;
      const made = make(key, page, owner).finally(() => drawing.delete(name));
      drawing.set(name, made);
      return made;
    },
  };
};

export type Originals = ReturnType<typeof createOriginals>;
