import { unzipSync } from 'fflate';
import { lockedFile, tooLargeFile, Unwanted } from './block.ts';

/** What an Office file or an e-book may hold: parts, and bytes of one and of all. */
const bounds = { parts: 3000, one: 32 * 1024 * 1024, all: 64 * 1024 * 1024 };

/**
 * The parts of a zip that are wanted, by their names.
 * @param refused made and thrown where they are more than `most`, or too large
 */
export const unzipped = (
  data: Uint8Array,
  wanted: (name: string) => boolean,
  { most, refused }: { most: number; refused: () => Error },
): Record<string, Uint8Array> => {
  let count = 0;
  let all = 0;
  return unzipSync(data, {
    // Each is no longer than it says it is: more of it does not fit where it is put.
    filter: ({ name, originalSize }) => {
      if (!wanted(name)) return false;
      count += 1;
      all += originalSize;
      if (count > most || originalSize > bounds.one || all > bounds.all) throw refused();
      return true;
    },
  });
};

/** The same of a file that is read. @throws Unwanted where they are too large */
export const partsOf = (
  data: Uint8Array,
  wanted: (name: string) => boolean,
): Map<string, Uint8Array> => {
  const refused = () => new Unwanted(tooLargeFile);
  return new Map(Object.entries(unzipped(data, wanted, { most: bounds.parts, refused })));
};

/** An Office file with a password is no zip: it is a compound file that names what it encloses. */
export const refuseLocked = (data: Uint8Array): void => {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))) throw new Unwanted(lockedFile);
};

/** The name of what `target` leads to from a part; both as in the zip. */
export const partAt = (from: string, target: string): string => {
  const base = new URL(from, 'zip://part/');
  return decodeURIComponent(new URL(target, base).pathname).replace(/^\//, '');
};
