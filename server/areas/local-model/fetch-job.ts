import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ShelfEntry } from '#server/engines/local/catalogue.ts';
import { JobError, type JobWork } from '#server/jobs/job-kind.ts';
import { type Bringing, bytesOf, pathOf } from './bring-model.ts';

export interface FetchInput {
  key: string;
  /** The mark of the folder that it comes to: processes need not share it. */
  folder: string;
}

export const fetchLivesMs = 24 * 3_600_000;
/** How often it is looked how far one is, ms. */
const lookMs = 500;
/** When one that is of another folder, or that this process leaves, is offered again, ms. */
const turnInMs = 1_000;
/** So many come at once; the others leave the workers to other works. */
const place = { channelId: -1, label: '下载', places: 2 };

/** What tells a folder from those of other machines: a name that lies in it; empty: none can lie there. */
export const markOf = async (folder: string): Promise<string> => {
  const file = path.join(folder, '.mark');
  const known = await readFile(file, 'utf8').catch(() => '');
  if (known !== '') return known;
  const mark = randomUUID();
  const own = `${file}.${mark}`;
  await mkdir(folder, { recursive: true }).catch(() => undefined);
  await writeFile(own, mark).catch(() => undefined);
  // Of two that make one at once the first does.
  await link(own, file).catch(() => undefined);
  await rm(own, { force: true }).catch(() => undefined);
  return readFile(file, 'utf8').catch(() => '');
};

/** Brings a model from a mirror to the folder of this process. */
export const createFetchWork = (deps: {
  folder: string;
  bringing: Bringing;
  /** @throws Refusal not_found */
  entryOf: (key: string) => Promise<ShelfEntry>;
}): JobWork<unknown> => ({
  kind: 'local-model',
  livesMs: fetchLivesMs,
  words: {
    name: '下载模型',
    failed: '没有下载成，再按一次会接着来',
    done: (_db, ids) => Promise.resolve(new Map(ids.map((id) => [id, '模型下好了，可以用了']))),
    url: () => '/manager/model?tab=local',
  },
  work: async (job, io) => {
    const { folder, bringing } = deps;
    const { key, folder: mark } = job.input as FetchInput;
    if (mark !== (await markOf(folder)))
      throw new JobError('engine_failed', '做任务的机器上没有这个文件夹', {
        retriable: true,
        turnInMs,
      });
    if (!(await io.place(place))) return { waitFor: place.channelId };
    const entry = await deps.entryOf(key);
    const part = `${pathOf(folder, entry)}.part`;
    const timer = setInterval(() => {
      void bytesOf(part).then((bytes) => io.progress(bytes / entry.size));
    }, lookMs);
    const halt = (): void => bringing.halt(entry);
    io.signal.addEventListener('abort', halt);
    try {
      io.signal.throwIfAborted();
      const brought = await bringing.bring(entry);
      if (io.stopped.aborted) await bringing.stop(entry);
      io.signal.throwIfAborted();
      if (brought.state === 'here') return { result: null };
      if (brought.state === 'failed')
        throw new JobError('engine_failed', brought.error, { retriable: false });
      throw new JobError('engine_failed', '停下了', { retriable: true, turnInMs });
    } finally {
      clearInterval(timer);
      io.signal.removeEventListener('abort', halt);
    }
  },
  finish: (_tx, _job, end) => Promise.resolve({ state: end.state, deductTokens: 0 }),
  discard: () => Promise.resolve(),
  clear: () => Promise.resolve(),
});
