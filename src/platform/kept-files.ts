import { keepDrafts, readDraft, writeDraft } from './draft.ts';
import { dropBlob, keepBlob, readBlob } from './outbox-blobs.ts';

/** Bytes that were made or chosen here and are not on the server yet, of one place: a kill leaves them. */
export interface KeptFile {
  /** Its bytes are kept under it; also the idempotency key of its upload. */
  id: string;
  name: string;
  /** Bytes. */
  size: number;
  /** What its place has to know besides. */
  note?: string;
}

/** What is kept of a place, in its order. `place`: the key of a draft. */
export const keptFiles = (place: string): readonly KeptFile[] => {
  try {
    return JSON.parse(readDraft(place) || '[]') as readonly KeptFile[];
  } catch {
    return [];
  }
};

/** Waits until it outlasts a kill: what is done next rests on it. @throws StorageFull */
const write = (place: string, files: readonly KeptFile[]): Promise<void> => {
  writeDraft(place, files.length === 0 ? '' : JSON.stringify(files));
  return keepDrafts();
};

/**
 * Keeps one more. It is written down before its bytes are: one whose bytes did not come to lie here
 * is known, and said to be lost.
 * @throws StorageFull the page alone has it
 */
export const keepFile = async (place: string, file: KeptFile, bytes: Blob): Promise<void> => {
  await write(place, [...keptFiles(place), file]);
  await keepBlob(file.id, bytes);
};

/** Its bytes; undefined: they are not here. */
export const bytesOf = (id: string): Promise<Blob | undefined> =>
  readBlob(id).catch(() => undefined);

/**
 * Keeps one in place of all that is kept of a place: whenever it is killed, one of both is known.
 * @param wanted asked before it is written down
 */
export const keepInstead = async (
  place: string,
  file: KeptFile,
  bytes: Blob,
  wanted: () => boolean,
): Promise<void> => {
  await keepBlob(file.id, bytes);
  if (!wanted()) return dropBlob(file.id);
  const before = keptFiles(place).filter(({ id }) => id !== file.id);
  await write(place, [file]);
  await Promise.allSettled(before.map(({ id }) => dropBlob(id)));
};

/** These are on the server, or wanted no more: where no room is left to write that down, it is known here. */
export const dropFiles = async (place: string, ids: readonly string[]): Promise<void> => {
  const left = keptFiles(place).filter(({ id }) => !ids.includes(id));
  await write(place, left).catch(() => undefined);
  await Promise.allSettled(ids.map(dropBlob));
};
