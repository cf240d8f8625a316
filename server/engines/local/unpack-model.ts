import { mkdir, rename, rm } from 'node:fs/promises';
import { workerUrl } from '#server/worker-url.ts';
import { createThreadWork } from '../thread-work.ts';
import { FetchFailed } from './fetch-model.ts';
import type { UnpackJob } from './unpack-task.ts';

const inThread = createThreadWork<UnpackJob>({
  url: workerUrl('./unpack-model-worker.ts', import.meta.url),
  threads: 1,
  workMs: 15 * 60_000,
  idleMs: 1_000,
  failure: (why) =>
    new FetchFailed(why.startsWith('压缩包') ? `${why}，已丢弃` : '没有解开，请看磁盘与权限'),
});

/**
 * Unpacks an archive to a folder, which is there only once it is whole, and takes the archive away.
 * @param most bytes that come out of it at most
 * @throws FetchFailed
 */
export const unpackModel = async (
  { archive, folder, most }: { archive: string; folder: string; most: number },
  signal: AbortSignal,
): Promise<void> => {
  const draft = `${folder}.unpacking`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft);
  try {
    await inThread({ archive, folder: draft, most }, signal);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // What could not be unpacked is of no use; whoever only stopped it has it still.
    if (error instanceof FetchFailed) await rm(archive, { force: true });
    throw error;
  }
  await rm(archive, { force: true });
};
