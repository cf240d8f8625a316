import { buffer } from 'node:stream/consumers';
import type { Out } from '#contract/calls.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { drawPage } from '#server/reading/draw-page.ts';
import type { PageLooks } from '#server/reading/see-pages.ts';
import type { Storage } from '#server/storage/storage-interface.ts';

type Drawn = Out<'passagePage'>;

/** Pages that are kept drawn, some hundred kilobytes each: several readers open the same source. */
const most = 24;

/** Draws pages of stored files. */
export const createOriginals = (storage: Storage, seconds: number) => {
  const kept = new Map<string, Drawn>();
  return {
    /**
     * A page of a file that is stored under `key`; `page` null: it is a picture itself. `looks`: where
     * its words were seen, if that is how they were read.
     * @returns null where it cannot be drawn
     * @throws Refusal too_many
     */
    draw: async (
      { key, page, looks }: { key: string; page: number | null; looks: PageLooks | null },
      owner: Waiter,
    ): Promise<Drawn | null> => {
      const name = `${key} ${page}`;
      const known = kept.get(name);
      if (known) return known;
      const read = async () => {
        const file = await storage.get(key);
        return file && { data: new Uint8Array(await buffer(file.stream)), page, looks };
      };
      const drawn = await drawPage(read, { seconds, owner });
      if (!drawn) return null;
      const { picture, ...rest } = drawn;
      const base64 = Buffer.from(picture).toString('base64');
      const told = { ...rest, picture: `data:image/webp;base64,${base64}` };
      kept.set(name, told);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
      return told;
    },
  };
};

export type Originals = ReturnType<typeof createOriginals>;
