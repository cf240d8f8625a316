import { PullFailed, pullOllama } from '#server/engines/local/ollama.ts';
import { JobError, type JobWork } from '#server/jobs/job-kind.ts';
import type { PullSoFar } from './local-model.store.ts';

export interface PullInput {
  base_url: string;
  model: string;
}

export const pullLivesMs = 24 * 3_600_000;
/** How far it is, is written down so often, ms. */
const noteMs = 500;
/** Layers below this say nothing of how far the whole is, bytes. */
const small = 5_000_000;
const place = { channelId: 0, label: 'Ollama', places: 1_000_000 };

/** Ollama on this machine brings a model; what it had of it before it does not bring again. */
export const createOllamaWork = (deps: {
  /** Where one may listen. */
  places: readonly string[];
  /** Offers what it has now. */
  offer: (baseUrl: string) => Promise<void>;
}): JobWork<unknown> => ({
  kind: 'ollama',
  livesMs: pullLivesMs,
  words: {
    name: '拉取模型',
    failed: '没有拉成，再拉一次会接着来',
    done: (_db, ids) => Promise.resolve(new Map(ids.map((id) => [id, '模型拉好了，可以用了']))),
    url: () => '/manager/model?tab=local',
  },
  work: async (job, io) => {
    const { base_url: baseUrl, model } = job.input as PullInput;
    if (!deps.places.includes(baseUrl))
      throw new JobError('engine_failed', '做任务的机器上没有这个 Ollama', { retriable: true });
    await io.place(place);
    let last: PullSoFar | null = null;
    let noting: Promise<void> = Promise.resolve();
    const note = (): void => {
      const now = last;
      last = null;
      if (now) noting = noting.then(() => io.remember(now)).catch(() => undefined);
    };
    const timer = setInterval(note, noteMs);
    try {
      await pullOllama({ baseUrl, model, signal: io.signal }, (now: PullSoFar) => {
        if (now.total > small) io.progress(Math.min(0.99, now.bytes / now.total));
        last = now;
      });
    } catch (error) {
      io.signal.throwIfAborted();
      const told = error instanceof PullFailed ? error.message : '没有成功，请再试一次';
      throw new JobError('engine_failed', told, { retriable: false });
    } finally {
      clearInterval(timer);
      note();
      await noting;
    }
    await deps.offer(baseUrl);
    return { result: null };
  },
  finish: (_tx, _job, end) => Promise.resolve({ state: end.state, deductTokens: 0 }),
  discard: () => Promise.resolve(),
  clear: () => Promise.resolve(),
});
