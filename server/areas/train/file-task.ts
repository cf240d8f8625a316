import { buffer } from 'node:stream/consumers';
import type { JobIo } from '#server/jobs/job-kind.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import type { ProjectRow } from './project.store.ts';
import { UnreadableFile, type FileReader } from './reading/read-file.ts';
import type { FileRow } from './training-file.store.ts';

/** Training waits for no service's free place: a job says that it is at work by taking this one. */
export const here = { channelId: 0, label: '本站', places: 1_000_000 };

/** What a job remembers: keys of files that were about to be stored, and what a service calls its work. */
export interface Done {
  keys?: string[];
  remote?: unknown;
}

/** One file of a project, and what it is worked on with. */
export interface FileTask {
  file: FileRow;
  project: ProjectRow;
  io: JobIo;
  /** How much of the file is done, 0 to 1. */
  progress: (part: number) => void;
  reader: FileReader;
  done: Done;
}

/** Why a file cannot be done, for people: others of the project go on. */
export class FileFailure extends Error {
  /** It fails for what it is, whenever it is tried. */
  readonly hopeless: boolean;
  constructor(message: string, hopeless = false) {
    super(message);
    this.hopeless = hopeless;
  }
}

export const noBalance = '余额不足，请充值后重试';

/** What is stored under a key; null: nothing. */
export const stored = async (storage: Storage, key: string | null): Promise<Buffer | null> => {
  const found = key ? await storage.get(key) : null;
  return found && buffer(found.stream);
};

/** What was stored of a file. @throws FileFailure */
export const bytesOf = async (storage: Storage, file: FileRow): Promise<Uint8Array> => {
  const data = await stored(storage, file.storageKey);
  if (!data) throw new FileFailure('文件已不在，请重新上传');
  return new Uint8Array(data);
};

/** What a reader makes of a file. @throws FileFailure where it cannot be read, ever */
export const read = async <T>(reading: Promise<T>): Promise<T> => {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableFile) throw new FileFailure(error.message, true);
    throw error;
  }
};
