import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { zipSync } from 'fflate';
import { licenceFiles } from '#contract/licence-files.ts';

/** The places in a zip file that are needed to put more into it; APPNOTE 4.3.12 and 4.3.16. */
const end = { mark: 0x06054b50, size: 22, count: 8, all: 10, length: 12, from: 16, comment: 20 };
const entry = { mark: 0x02014b50, size: 46, name: 28, extra: 30, comment: 32, from: 42 };

interface Directory {
  /** Where the list of entries begins, how long it is, and where what ends it begins. */
  from: number;
  length: number;
  end: number;
  entries: { name: string; at: number }[];
}

/** What a zip file holds; null: it is none, or one of the long kind. */
const directoryOf = (zip: Buffer): Directory | null => {
  const first = Math.max(0, zip.length - end.size - 0xffff);
  for (let at = zip.length - end.size; at >= first; at -= 1) {
    if (zip.readUInt32LE(at) !== end.mark) continue;
    if (at + end.size + zip.readUInt16LE(at + end.comment) !== zip.length) continue;
    const count = zip.readUInt16LE(at + end.all);
    const from = zip.readUInt32LE(at + end.from);
    const length = zip.readUInt32LE(at + end.length);
    if (from + length !== at) return null;
    const entries = [];
    for (let next = from; next + entry.size <= at;) {
      if (zip.readUInt32LE(next) !== entry.mark) return null;
      const name = zip.readUInt16LE(next + entry.name);
      const text = zip.toString('utf8', next + entry.size, next + entry.size + name);
      entries.push({ name: text, at: next });
      next +=
        entry.size +
        name +
        zip.readUInt16LE(next + entry.extra) +
        zip.readUInt16LE(next + entry.comment);
    }
    return entries.length === count ? { from, length, end: at, entries } : null;
  }
  return null;
};

/**
 * A zip file with more files in it: nothing of it is unpacked. As it came where it is no zip file;
 * files that it has already stay as they are.
 */
export const withFiles = (zip: Buffer, files: Readonly<Record<string, Buffer>>): Buffer => {
  const old = directoryOf(zip);
  if (!old) return zip;
  const there = new Set(old.entries.map(({ name }) => name));
  const missing = Object.entries(files).filter(([name]) => !there.has(name));
  if (missing.length === 0) return zip;
  const added = Buffer.from(zipSync(Object.fromEntries(missing)));
  const more = directoryOf(added);
  if (!more) throw new Error('the added files make no zip file');
  for (const { at } of more.entries)
    added.writeUInt32LE(added.readUInt32LE(at + entry.from) + old.from, at + entry.from);
  const closing = Buffer.from(zip.subarray(old.end));
  const count = old.entries.length + more.entries.length;
  const from = old.from + more.from;
  const length = old.length + more.length;
  // What needs the long kind is left alone.
  if (count >= 0xffff || from + length >= 0xffffffff) return zip;
  closing.writeUInt16LE(count, end.count);
  closing.writeUInt16LE(count, end.all);
  closing.writeUInt32LE(length, end.length);
  closing.writeUInt32LE(from, end.from);
  return Buffer.concat([
    zip.subarray(0, old.from),
    added.subarray(0, more.from),
    zip.subarray(old.from, old.end),
    added.subarray(more.from, more.end),
    closing,
  ]);
};

/** Source code that is given away with the licence of the program and the third-party notices in it. */
export const withNotices = async (data: Buffer, pageFolder: string): Promise<Buffer> => {
  const names = Object.values(licenceFiles);
  const read = names.map(async (name) => {
    // A server that was not built has none.
    const text = await readFile(path.join(pageFolder, name)).catch(() => null);
    return text ? [[name.slice(1), text] as const] : [];
  });
  return withFiles(data, Object.fromEntries((await Promise.all(read)).flat()));
};
