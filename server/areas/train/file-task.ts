import { buffer } from 'node:stream/consumers';
import { livingInstances } from '#server/db/instance.ts';
import { JobError, type JobIo } from '#server/jobs/job-kind.ts';
import type { Seen } from '#server/reading/see-pages.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import type { ProjectRow } from './project.store.ts';
import type { TrainDeps } from './train-deps.ts';
import { UnreadableFile, type FileReader } from './reading/read-file.ts';
import type { FileRow } from './training-file.store.ts';

/** Workers of a process that trainings leave to works that people wait for. */
const leftToOthers = 2;

/** The place that a training takes, as others do at a service: hours of it keep no picture waiting. */
export const trainingPlace = async ({ db, settings }: TrainDeps) => ({
  channelId: 0,
  label: '本站',
  places: Math.max(1, settings.workers - leftToOthers) * Math.max(1, await livingInstances(db)),
});

/** What a job remembers: keys of files that were about to be stored, and what a service calls its work. */
export interface Done {
  keys?: string[];
  remote?: unknown;
  /** What was seen of a file's pages before its turn was over, and of how many of them. */
  seen?: { file: number; pages: number; seen: Seen };
}

/** Passages of all knowledge bases of a person: they are not in the quota of files. */
export const mostPassages = 1_000_000;

/** One file of a project, and what it is worked on with. */
export interface FileTask {
  file: FileRow;
  project: ProjectRow;
  io: JobIo;
  /** How much of the file is done, 0 to 1. */
  progress: (part: number) => void;
  reader: FileReader;
  done: Done;
  /** What its person may still have, as it was when the turn began. */
  room: { passages: number };
  /** Whether the worker goes to somebody else now: what is thrown then lets the job wait. */
  turnIsOver: () => Promise<boolean>;
}

/** Ends a turn of a job; it goes on where it was. */
export const turnOver = (): JobError =>
  new JobError('engine_failed', '轮到别人，稍后接着训练', { retriable: true, turnInMs: 0 });

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
