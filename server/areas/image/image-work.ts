import type { ClaimedJob, JobWork } from '#server/jobs/job-kind.ts';
import { finishJob } from './image-delivery.ts';
import type { Done, ImageWorkDeps, Painted } from './image-job.ts';
import { tookAllTheSame } from './image-order.ts';
import { paint } from './image-paint.ts';
import * as store from './image.store.ts';

/** From its call to its end, ms. */
export const imageLivesMs = 13 * 60_000;

/** Draws and changes images, for messages, accounts and by themselves. */
export const createImageWork = (deps: ImageWorkDeps): JobWork<unknown> => {
  const drop = async (keys: readonly string[]): Promise<void> => {
    if (keys.length === 0) return;
    // The row may have been stored although the answer to that got lost.
    const known = new Set(await store.knownKeys(deps.db, keys));
    for (const key of keys) if (!known.has(key)) await deps.files.dropStored({ key, type: 'png' });
  };

  const clear = (job: ClaimedJob): Promise<void> => drop((job.remote as Done | null)?.keys ?? []);

  const images: JobWork<Painted> = {
    kind: 'image',
    livesMs: imageLivesMs,
    words: {
      name: '画图',
      failed: '生成失败',
      done: async (executor, ids) =>
        new Map(
          [...(await store.countOfJobs(executor, ids))].map(([id, n]) => [id, `${n} 张图片画好了`]),
        ),
      url: (id) => `/image/private?image_id=${id}`,
    },
    work: async (job, io) => {
      await clear(job);
      return paint(deps, job, job.remote ?? {}, io);
    },
    tookAllTheSame: ({ remote }) => tookAllTheSame((remote as Done | null) ?? {}),
    discard: ({ images }) => drop(images.flatMap(({ kept }) => (kept ? [kept.key] : []))),
    clear,
    finish: finishJob,
  };
  // What it made goes through the worker unread.
  return images as JobWork<unknown>;
};
