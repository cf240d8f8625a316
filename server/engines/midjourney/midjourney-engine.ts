import type { ImageAbility } from '#contract/image.ts';
import { timeLimit } from '#server/net/time-limit.ts';
import {
  type ImageEngine,
  type ImageIo,
  type ImageResult,
  type EngineImage,
  noChoices,
} from '../image-engine.ts';
import { dataUrl, exactly, made } from '../image-pixels.ts';
import { senselessReply, unsuitable } from '../image-wire.ts';
import { actionsOf, isGrid, plainActions } from './buttons.ts';
import { quartersOf } from './grid.ts';
import { order, remembered, type Remembered } from './order.ts';
import { createProxy, type MidjourneyOptions, type Proxy, type Task } from './proxy.ts';
import { failed } from './refusals.ts';
import { wait } from './watch.ts';

export const midjourneyAbilities: readonly ImageAbility[] = [
  'text-to-image',
  'image-to-image',
  'interrogate',
  'seed',
  'references',
  'blend',
];

/** The first of the numbered descriptions, without its number and its aspect ratio. */
const firstDescription = (value: unknown): string => {
  if (typeof value !== 'string') return '';
  const [first = ''] = value
    .split(/\n+/)
    .map((line) =>
      line
        .replace(/^\s*(?:\d\uFE0F?\u20E3|\d+[.、])\s*/u, '')
        .replace(/\s--ar\s+\S+/g, '')
        .trim(),
    )
    .filter((line) => line !== '');
  return first.slice(0, 4000);
};

/** What an earlier worker ordered and may still come to something; null: there is nothing. */
const takenOver = async (proxy: Proxy, io: ImageIo): Promise<Remembered | null> => {
  const earlier = remembered.safeParse(io.resume);
  if (!earlier.success) return null;
  const now = await proxy.found(earlier.data.task, io.signal);
  return now && !['FAILURE', 'CANCEL'].includes(now.status ?? '') ? earlier.data : null;
};

const collect = async (
  { fetchImage }: Proxy,
  done: Task,
  { task: id, single }: Remembered,
  n: number,
  io: ImageIo,
): Promise<ImageResult> => {
  const image =
    typeof done.imageUrl === 'string' && done.imageUrl !== ''
      ? await fetchImage(done.imageUrl, io.signal)
      : null;
  if (image === null) throw failed('Midjourney 画好的图片取不到，没有扣费，请重试', true);
  const buttons = done.buttons ?? [];
  const one = buttons.length > 0 ? !isGrid(buttons) : (single ?? done.action === 'UPSCALE');
  const quarters = one ? null : await quartersOf(image);
  let images: EngineImage[];
  if (one) images = [await made(image, null)];
  else if (quarters === null) images = exactly([await made(null, null)], 1);
  else
    images = exactly(
      quarters.map((data) => ({ data, error: '', seed: null })),
      Math.min(4, Math.max(1, n)),
    );
  const words = done.properties?.['finalPrompt'];
  return {
    images,
    actions: buttons.length > 0 ? actionsOf(buttons) : one ? [] : [...plainActions],
    revisedPrompt: typeof words === 'string' ? words.slice(0, 4000) : '',
    remote: { task: id },
  };
};

/** novicezk's midjourney-proxy, its plus dialect, and the services that speak as they do. */
export const createMidjourneyEngine = (options: MidjourneyOptions): ImageEngine => {
  const proxy = createProxy(options);
  return {
    abilities: midjourneyAbilities,
    // The service has a queue of its own; this only keeps it from being filled up.
    concurrency: 10,

    async run(wanted, io) {
      const earlier = await takenOver(proxy, io);
      const ordering = earlier ? Promise.resolve(earlier) : order(proxy, wanted, io.signal);
      const over = io.sent(async () => proxy.cancel((await ordering).task));
      let work = earlier;
      try {
        work = await ordering;
        if (!earlier) await io.remember(work);
        return await collect(proxy, await wait(proxy, work, io, wanted.prompt), work, wanted.n, io);
      } catch (error) {
        over();
        if (io.signal.aborted && work) await proxy.cancel(work.task);
        io.signal.throwIfAborted();
        throw error;
      }
    },

    choices: () => Promise.resolve(noChoices),

    detect: () => Promise.reject(unsuitable('Midjourney 没有构图控制')),

    async interrogate({ image }, signal) {
      const until = AbortSignal.any([signal, timeLimit(120_000)]);
      const id = await proxy.submit('describe', { base64: dataUrl(image) }, until);
      const io: ImageIo = {
        signal: until,
        progress: () => {},
        remember: () => Promise.resolve(),
        stopped: until,
        sent: () => () => {},
        resume: null,
      };
      const done = await wait(proxy, { task: id }, io, '');
      const text = firstDescription(done.properties?.['finalPrompt']);
      if (text === '') throw senselessReply();
      return { text, chinese: firstDescription(done.properties?.['finalZhPrompt']) };
    },
  };
};
