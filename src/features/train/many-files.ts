import { trainLimits } from '#contract/train-limits.ts';
import { Zip, ZipPassThrough } from 'fflate';

/** Thousands of files at once: those of a folder, and few uploads in the place of many. */

/** Files of one parcel; an archive may hold 500. Those that are large already go by themselves. */
const together = 400;
const most = trainLimits.fileBytes - 256 * 1024;
const alone = /\.(?:zip|rar|7z|xz|gz)$/i;

/** The same files make the same bytes, which the server knows again. */
const zipOf = async (files: readonly File[], name: string): Promise<File> => {
  const parts: BlobPart[] = [];
  const zip = new Zip((_error, chunk) => parts.push(new Uint8Array(chunk)));
  for (const [at, file] of files.entries()) {
    // Two of one name from different folders are two.
    const entry = new ZipPassThrough(`${at}/${file.name}`);
    entry.mtime = '2000-01-01';
    zip.add(entry);
    entry.push(new Uint8Array(await file.arrayBuffer()), true);
  }
  zip.end();
  return new File(parts, name);
};

/** The same files in few uploads, as they become ready. A file that cannot be read fails by itself. */
export const parcelsOf = async function* (files: readonly File[]): AsyncGenerator<File> {
  let open: File[] = [];
  let size = 0;
  let before = 0;
  const end = async (): Promise<File[]> => {
    const parcel = open;
    const name = `第 ${before + 1}–${before + parcel.length} 个文件.zip`;
    before += parcel.length;
    open = [];
    size = 0;
    return zipOf(parcel, name).then(
      (zip) => [zip],
      () => parcel,
    );
  };
  for (const file of files) {
    if (file.size > most / 2 || alone.test(file.name)) {
      yield file;
      continue;
    }
    if (open.length === together || size + file.size > most) yield* await end();
    open.push(file);
    size += file.size + 2 * file.name.length + 200;
  }
  if (open.length > 0) yield* await end();
};

const childrenOf = (folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> => {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  // It gives a hundred at a time.
  const more = async (): Promise<FileSystemEntry[]> => {
    const next = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (next.length === 0) return all;
    all.push(...next);
    return more();
  };
  return more();
};

/** All files below what was dropped; what is hidden stays out. */
export const filesBelow = async (entries: readonly FileSystemEntry[]): Promise<File[]> => {
  const files: File[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory)
      files.push(...(await filesBelow(await childrenOf(entry as FileSystemDirectoryEntry))));
    else
      files.push(
        await new Promise<File>((resolve, reject) => {
          (entry as FileSystemFileEntry).file(resolve, reject);
        }),
      );
  }
  return files;
};
