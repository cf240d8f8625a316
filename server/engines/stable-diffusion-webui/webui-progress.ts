import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { ImageEngineError, type ImageIo } from '../image-engine.ts';
import { fromBase64, measure } from '../image-pixels.ts';
import { slowService } from '../image-wire.ts';
import { watchSilence } from '../silence.ts';
import type { Webui } from './webui.ts';

const progressOfTask = z.object({
  active: z.boolean(),
  queued: z.boolean(),
  completed: z.boolean(),
  progress: z.nullish(z.number()),
  live_preview: z.nullish(z.string()),
});
const progressOfAll = z.object({
  progress: z.number(),
  current_image: z.nullish(z.string()),
  /** Whose progress it is, of versions that tell. */
  current_task: z.nullish(z.string()),
});

/** How a work at the service stands, as far as it tells. */
interface Standing {
  state: 'unknown' | 'queued' | 'active';
  fraction: number;
  preview: Buffer | null;
}

/** A work at the service, under the name that it was given here. */
export interface Work {
  io: ImageIo;
  task: string;
}

const standing = async ({ call }: Webui, task: string, signal: AbortSignal): Promise<Standing> => {
  try {
    const own = await call('internal/progress', progressOfTask, signal, {
      id_task: task,
      live_preview: true,
      id_live_preview: -1,
    });
    if (own.active || own.queued)
      return {
        state: own.active ? 'active' : 'queued',
        fraction: own.progress ?? 0,
        preview: fromBase64(own.live_preview),
      };
    if (own.completed) return { state: 'unknown', fraction: 1, preview: null };
  } catch (error) {
    if (!(error instanceof ImageEngineError)) throw error;
  }
  const all = await call('sdapi/v1/progress', progressOfAll, signal);
  // Somebody else may be at it in the service's own pages: neither their progress nor their image.
  if (typeof all.current_task === 'string' && all.current_task !== '' && all.current_task !== task)
    return { state: 'queued', fraction: 0, preview: null };
  return {
    state: all.progress > 0 ? 'active' : 'unknown',
    fraction: all.progress,
    preview: fromBase64(all.current_image),
  };
};

/** Stops a work, unless it only waits. */
export const interrupt = async (webui: Webui, task: string): Promise<void> => {
  const signal = AbortSignal.timeout(5000);
  try {
    const { state } = await standing(webui, task, signal);
    // It stops whatever is being made: not what waits behind somebody else's.
    if (state === 'queued') return;
    await webui.tell('sdapi/v1/interrupt', signal);
  } catch {
    // Nobody waits for it any more; what it still makes is thrown away.
  }
};

/** Waits for the work while its progress is asked for; tells the service to stop on abort. */
export const follow = async <T>(
  webui: Webui,
  { io, task }: Work,
  share: { from: number; to: number },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const done = new AbortController();
  const watch = watchSilence(io.signal, webui.silence);
  const signal = AbortSignal.any([watch.signal, done.signal]);
  const poll = async (): Promise<void> => {
    let highest = 0;
    for (;;) {
      await sleep(webui.pollMs, undefined, { signal });
      const { state, fraction, preview } = await standing(webui, task, signal).catch(
        (): Standing => {
          signal.throwIfAborted();
          return { state: 'unknown', fraction: 0, preview: null };
        },
      );
      if (state === 'queued') watch.waits();
      else if (fraction > 0) watch.stands(`${fraction} ${preview?.length ?? 0}`);
      highest = Math.max(highest, Math.min(1, Number.isFinite(fraction) ? fraction : 0));
      const seen = preview !== null && (await measure(preview)) !== null ? preview : undefined;
      io.progress(share.from + highest * (share.to - share.from), seen);
    }
  };
  const polling = poll().catch(() => undefined);
  try {
    return await work(watch.signal);
  } catch (error) {
    if (watch.signal.aborted) await interrupt(webui, task);
    if (watch.silent) throw slowService(error);
    throw error;
  } finally {
    watch.end();
    done.abort();
    await polling;
  }
};
