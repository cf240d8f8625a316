import { Readable } from 'node:stream';
import { text as readText, buffer as readBuffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import { extract } from 'tar-stream';
import { Unwanted } from '#server/reading/block.ts';
import { decodeText } from '#server/reading/decode.ts';
import {
  baseName,
  bounds,
  broken,
  locked,
  nothing,
  tooLarge,
  tooMany,
  wanted,
  type Unpacked,
} from './archive-rules.ts';
import { endingOf } from './kinds.ts';

/** Opens zip, gz and tar without 7-Zip, whose package may be absent. */

const unopened = '服务器上没有安装 7z-wasm，打不开 rar、7z 和 xz，请换成 zip 再上传';

interface Entry {
  path: string;
  /** Null: it is left out. */
  data: Uint8Array | null;
}

/** The fields of a zip's directory, as its specification (APPNOTE 4.3.12) places them, bytes. */
const directory = { entry: 46, flags: 8, nameLength: 28, extraLength: 30, noteLength: 32 };
const encryptedFlag = 1;

/** The names in a zip, in the order of its directory. @throws Unwanted */
const namesIn = (zip: Buffer): string[] => {
  const end = zip.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  if (end < 0 || end + 22 > zip.length) throw new Unwanted(broken);
  const count = zip.readUInt16LE(end + 10);
  if (count > bounds.entries) throw new Unwanted(tooMany);
  const names: string[] = [];
  let at = zip.readUInt32LE(end + 16);
  while (names.length < count) {
    if (at + directory.entry > zip.length) throw new Unwanted(broken);
    if ((zip.readUInt16LE(at + directory.flags) & encryptedFlag) !== 0) throw new Unwanted(locked);
    const nameEnd = at + directory.entry + zip.readUInt16LE(at + directory.nameLength);
    names.push(decodeText(zip.subarray(at + directory.entry, nameEnd)) ?? `${names.length}`);
    at =
      nameEnd +
      zip.readUInt16LE(at + directory.extraLength) +
      zip.readUInt16LE(at + directory.noteLength);
  }
  return names;
};

const unzipped = (zip: Buffer): Entry[] => {
  const entries = namesIn(zip).map((path): Entry => ({ path, data: null }));
  const places = new Map<string, number>();
  let seen = 0;
  let all = 0;
  // A file is unpacked into as many bytes as its size says, and no more.
  const files = unzipSync(zip, {
    filter: ({ name, originalSize }) => {
      const place = seen;
      seen += 1;
      const path = entries[place]?.path ?? '';
      if (path.endsWith('/') || (!wanted(path) && entries.length > 1)) return false;
      all += originalSize;
      if (originalSize > bounds.one || all > bounds.all) throw new Unwanted(tooLarge);
      if (all > bounds.ratioFrom && all > zip.length * bounds.ratio) throw new Unwanted(tooLarge);
      places.set(name, place);
      return true;
    },
  });
  for (const [name, place] of places) entries[place]!.data = files[name] ?? null;
  return entries.filter(({ path }) => !path.endsWith('/'));
};

const gunzipped = (name: string, data: Buffer): Entry[] => {
  try {
    const whole = gunzipSync(data, { maxOutputLength: bounds.one });
    return [{ path: baseName(name).replace(/\.[^.]*$/, ''), data: whole }];
  } catch (error) {
    const { code } = error as { code?: string };
    throw new Unwanted(code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge : broken);
  }
};

const untarred = async (data: Buffer): Promise<Entry[]> => {
  const entries: Entry[] = [];
  for await (const entry of Readable.from([data]).pipe(extract())) {
    const { name, type, size } = entry.header;
    if (type === 'file' && entries.length >= bounds.entries) throw new Unwanted(tooMany);
    if (type === 'file' && size > bounds.one) throw new Unwanted(tooLarge);
    if (type === 'file') entries.push({ path: name, data: await readBuffer(entry) });
    else await readText(entry);
  }
  return entries;
};

const opened = async (name: string, data: Buffer): Promise<Entry[]> => {
  const ending = endingOf(name);
  if (!['zip', 'gz', 'tar'].includes(ending)) throw new Unwanted(unopened);
  try {
    if (ending === 'gz') return gunzipped(name, data);
    return ending === 'zip' ? unzipped(data) : await untarred(data);
  } catch (error) {
    throw error instanceof Unwanted ? error : new Unwanted(broken, { cause: error });
  }
};

/** As `unpack`, of the formats for which no package is needed. @throws Unwanted */
export const unpackPlainly = async (name: string, data: Uint8Array): Promise<Unpacked> => {
  const entries = await opened(name, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  if (entries.length === 0) throw new Unwanted(nothing);
  const files: Unpacked['files'] = [];
  const skipped: string[] = [];
  for (const { path, data } of entries)
    if (data && wanted(path)) files.push({ name: baseName(path), data });
    else skipped.push(baseName(path));
  if (files.length === 0) throw new Unwanted(nothing);
  return { files, skipped };
};
