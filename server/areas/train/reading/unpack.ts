import { readFileSync } from 'node:fs';
import {
  isInstalled,
  loadOptional,
  optionalPackageFile,
  type SevenZip,
} from '#server/optional-packages.ts';
import { trainEndings } from '#contract/train-limits.ts';
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
import { Unwanted } from '#server/reading/block.ts';
import { unpackPlainly } from './plain-unpack.ts';

/** Of what it prints; a list of more files than are taken is longer. */
const mostLines = 40_000;

interface Entry {
  path: string;
  size: number | null;
  folder: boolean;
  encrypted: boolean;
}

interface Program {
  module: SevenZip;
  said: string[];
}

/** The program lives in memory alone: nothing that it writes reaches a disk. */
const start = async (): Promise<Program> => {
  const create = await loadOptional('7z-wasm');
  const said: string[] = [];
  const take = (line: string) => {
    if (said.length < mostLines) said.push(line);
  };
  const module = await create({
    print: take,
    printErr: take,
    stdin: () => -1,
    quit: (_code, status) => {
      throw status;
    },
    wasmBinary: readWasm(),
  });
  return { module, said };
};

const readWasm = (): ArrayBuffer => {
  const data = readFileSync(optionalPackageFile('7z-wasm', '7zz.wasm'));
  return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
};

const run = ({ module, said }: Program, args: string[]): string[] => {
  said.length = 0;
  try {
    module.callMain(args);
  } catch {
    // It ends by throwing; what it said tells how it went.
  }
  if (said.length >= mostLines) throw new Unwanted(tooMany);
  return [...said];
};

/** `alone`: the name of what is in an archive that tells none, such as .xz. */
const listed = (lines: readonly string[], alone: string): Entry[] => {
  const entries: Entry[] = [];
  let entry: Entry | null = null;
  let begun = false;
  const open = (path: string): Entry => {
    entry = { path, size: null, folder: false, encrypted: false };
    entries.push(entry);
    return entry;
  };
  for (const line of lines) {
    if (line.startsWith('----------')) begun = true;
    if (!begun) continue;
    const [, key = '', value = ''] = /^([A-Z][\w ]*) = ?(.*)$/.exec(line) ?? [];
    if (key === '') continue;
    if (key === 'Path') {
      open(value);
      continue;
    }
    entry ??= open(alone);
    if (key === 'Size') entry.size = /^\d+$/.test(value) ? Number(value) : null;
    else if (key === 'Folder') entry.folder = value === '+';
    else if (key === 'Attributes') entry.folder ||= value.startsWith('D');
    else if (key === 'Encrypted') entry.encrypted = value === '+';
  }
  return entries;
};

interface Found {
  path: string;
  size: number;
}

/** The files below a folder of the program, those that are links left out. */
const walk = (FS: SevenZip['FS'], folder: string, found: Found[] = []): Found[] => {
  for (const name of FS.readdir(folder)) {
    if (name === '.' || name === '..') continue;
    const path = `${folder}/${name}`;
    const { mode, size } = FS.lstat(path) as { mode: number; size: number };
    if (FS.isLink(mode)) continue;
    if (FS.isDir(mode)) walk(FS, path, found);
    else if (FS.isFile(mode)) found.push({ path, size });
    if (found.length > bounds.entries) throw new Unwanted(tooMany);
  }
  return found;
};

/** A 7z whose names are locked, too, tells but that; a zip that begins with its end holds nothing. */
const whyEmpty = (data: Uint8Array): string => {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.includes(Buffer.from('06f10701', 'hex'))) return locked;
  return bytes.subarray(0, 4).toString('hex') === '504b0506' ? nothing : broken;
};

/**
 * What is in an archive (zip, rar, 7z, xz, gz, tar), as far as something can be learned from it.
 * Without 7-Zip only zip, gz and tar are opened. To be called in a thread of its own: what lies
 * about its size is ended from outside.
 * @throws Unwanted
 */
export const unpack = async (name: string, data: Uint8Array): Promise<Unpacked> => {
  if (!isInstalled('7z-wasm')) return unpackPlainly(name, data);
  const program = await start();
  const { module } = program;
  const { FS } = module;
  // The name of what is in a .gz or .xz is made of the archive's own.
  const stem =
    baseName(name)
      .replaceAll(/[^\p{L}\p{N}._ -]/gu, '_')
      .slice(-80) || 'a';
  const archive = `/in/${stem}`;
  FS.mkdir('/in');
  FS.mkdir('/out');
  const stream = FS.open(archive, 'w+');
  FS.write(stream, data, 0, data.length);
  FS.close(stream);
  const told = run(program, ['l', '-slt', '-p-', archive]);
  const entries = listed(told, stem.replace(/\.[^.]*$/, '')).filter(({ folder }) => !folder);
  if (told.some((line) => /Cannot open encrypted|Wrong password|Enter password/i.test(line)))
    throw new Unwanted(locked);
  if (entries.some(({ encrypted }) => encrypted)) throw new Unwanted(locked);
  if (entries.length === 0) throw new Unwanted(whyEmpty(data));
  if (entries.length > bounds.entries) throw new Unwanted(tooMany);
  const kept = entries.filter(({ path }) => wanted(path) || entries.length === 1);
  const sizes = kept.reduce((sum, { size }) => sum + (size ?? 0), 0);
  if (kept.some(({ size }) => (size ?? 0) > bounds.one) || sizes > bounds.all)
    throw new Unwanted(tooLarge);
  if (sizes > bounds.ratioFrom && sizes > data.length * bounds.ratio) throw new Unwanted(tooLarge);
  const names = entries.length === 1 ? [] : trainEndings.map((ending) => `-ir!*.${ending}`);
  const done = run(program, ['x', '-y', '-p-', '-o/out', ...names, archive]);
  const found = walk(FS, '/out');
  const failed = done.some((line) =>
    /^(ERROR|ERRORS)\b|Data Error|Unexpected end|CRC Failed/i.test(line),
  );
  if (found.length === 0) {
    if (failed) throw new Unwanted(broken);
    throw new Unwanted(nothing);
  }
  let all = 0;
  const files: Unpacked['files'] = [];
  for (const { path, size } of found) {
    all += size;
    if (size > bounds.one || all > bounds.all) throw new Unwanted(tooLarge);
    if (!wanted(path)) continue;
    files.push({ name: baseName(path), data: FS.readFile(path, { encoding: 'binary' }) });
  }
  if (failed && files.length === 0) throw new Unwanted(broken);
  const skipped = entries
    .map(({ path }) => path)
    .filter((path) => !wanted(path))
    .map(baseName);
  if (files.length === 0) throw new Unwanted(nothing);
  return { files, skipped };
};
