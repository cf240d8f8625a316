import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { bytesOf } from './byte-range.ts';
import type { Storage } from './storage-interface.ts';
import { requireKey } from './storage-key.ts';

/** Bytes that are read at once: images are some hundred thousand and more. */
const highWaterMark = 256 * 1024;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Files below `<dataDir>/files`, in 256 folders by the beginning of their keys. */
export const createFolderStorage = (dataDir: string): Storage => {
  const root = path.join(dataDir, 'files');
  const placeOf = (key: string): string => {
    requireKey(key);
    return path.join(root, key.slice(0, 2), key);
  };
  const keep = async (key: string, data: Buffer | Readable): Promise<void> => {
    const place = placeOf(key);
    await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
    // Under its own name only when it is whole.
    const draft = `${place}.${randomUUID()}.draft`;
    try {
      await writeFile(draft, data, { mode: 0o600, flush: true });
      await rename(draft, place);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  };
  return {
    put: (key, data) => keep(key, data),
    putFile: (key, from) => keep(key, createReadStream(from, { highWaterMark })),

    async get(key) {
      const place = placeOf(key);
      try {
        const file = await open(place, 'r');
        try {
          const { size } = await file.stat();
          return { stream: file.createReadStream({ highWaterMark }), size };
        } catch (error) {
          await file.close();
          throw error;
        }
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },

    async getPart(key, range) {
      const place = placeOf(key);
      try {
        const file = await open(place, 'r');
        try {
          const { size } = await file.stat();
          const part = bytesOf(range, size);
          if (part === null) {
            await file.close();
            return 'outside';
          }
          const { from: start, to: end } = part;
          return { stream: file.createReadStream({ start, end, highWaterMark }), ...part, size };
        } catch (error) {
          await file.close();
          throw error;
        }
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },

    async delete(key) {
      await rm(placeOf(key), { force: true });
    },
  };
};
