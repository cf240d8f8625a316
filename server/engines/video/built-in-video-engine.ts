import { missingPackageIn } from '#server/optional-packages.ts';
import { workerUrl } from '#server/worker-url.ts';
import { createThreadWork } from '../thread-work.ts';
import type { FilmJob } from './film-task.ts';
import { VideoEngineError, type VideoEngine, type VideoOrder } from './video-engine.ts';

const inThread = createThreadWork<FilmJob>({
  url: workerUrl('./film-worker.ts', import.meta.url),
  threads: 1,
  workMs: 10 * 60_000,
  failure: (why) => {
    const missing = missingPackageIn(why);
    return missing === null
      ? new VideoEngineError('engine_failed', '视频没有做成，没有扣费，请重试', {
          retriable: true,
          cause: new Error(why),
        })
      : new VideoEngineError('engine_failed', `${missing}，内置视频还不能用`, { retriable: false });
  },
});

/** Pixels of a film: as many as 768 by 768, and no side longer than this. */
const most = { pixels: 768 * 768, side: 1024 };

/** The image's shape, with even sides. */
const filmSize = ({ width, height }: Pick<VideoOrder, 'width' | 'height'>) => {
  const scale = Math.min(
    1,
    Math.sqrt(most.pixels / (width * height)),
    most.side / Math.max(width, height),
  );
  const even = (side: number) => Math.max(64, Math.round((side * scale) / 2) * 2);
  return { width: even(width), height: even(height) };
};

/** The usual motion at the usual adherence goes a good half of what there is. */
const reachOf = ({ motion, cfgScale }: Pick<VideoOrder, 'motion' | 'cfgScale'>): number =>
  Math.min(1, (motion / 255) * (1.25 - cfgScale * 0.095));

/**
 * The engine of films that needs no service: a camera that pans, zooms and drifts over the image,
 * past its near and its far parts. WebM with VP9.
 */
export const createBuiltInVideoEngine = ({ seconds }: { seconds: number }): VideoEngine => ({
  concurrency: 1,
  describe: () => ({ sizes: [], seconds, moves: true }),
  run: async (order, io) => {
    const task = {
      base: order.base,
      ...filmSize(order),
      seconds,
      reach: reachOf(order),
      seed: order.seed,
      move: order.move,
      reverse: order.reverse === true,
      marked: order.marked,
    };
    const { data, poster } = await inThread(task, io.signal, { progress: io.progress });
    return { data: Buffer.from(data), poster: Buffer.from(poster), marked: order.marked };
  },
});
