import { setTimeout as sleep } from 'node:timers/promises';
import type { SentOut } from '../engines/sent-out.ts';
import { type JobContext } from './job-end.ts';
import type { JobIo } from './job-kind.ts';
import { noteProgress, noteSent } from './job-work.store.ts';

/** Least time between two notes of one job's progress, ms. */
const progressMs = 300;

/** A job that this process works on. */
export interface LiveJob {
  id: number;
  stop: AbortController;
  /** Aborted when its person wants it no more. */
  asked: AbortController;
  /** Requests that are out at services. */
  out: Set<object>;
  /** Why it was stopped, or that it has ended; null: it goes on. */
  reason: 'cancelled' | 'late' | 'lost' | 'closing' | 'ended' | null;
  finished: Promise<void>;
}

type Noting = Pick<JobContext, 'db' | 'instance' | 'log'>;

export const newLiveJob = (id: number): LiveJob => ({
  id,
  stop: new AbortController(),
  asked: new AbortController(),
  out: new Set(),
  reason: null,
  finished: Promise.resolve(),
});

/** Stops the work, unless it was stopped before or has ended. */
export const cut = (live: LiveJob, reason: NonNullable<LiveJob['reason']>): void => {
  if (live.reason) return;
  live.reason = reason;
  live.stop.abort(new Error(reason));
};

/** Its person stops it: at once, or once nothing of it is out at a service any more. */
export const recall = (live: LiveJob): void => {
  if (live.reason) return;
  live.asked.abort();
  if (live.out.size === 0) cut(live, 'cancelled');
};

/** Follows what of a job is out at services, and notes in its row what nobody takes back. */
export const followSent = ({ db, instance, log }: Noting, live: LiveJob) => {
  const { id, out, asked } = live;
  let noting: Promise<void> = Promise.resolve();
  const note = (sent: boolean): void => {
    noting = noting
      .then(() => noteSent(db, instance.id, id, sent))
      .catch((error: unknown) => {
        log.warn({ err: error, job: id }, 'that a job was sent could not be noted');
      });
  };
  const sent: SentOut = (takeBack) => {
    const request = {};
    out.add(request);
    const over = (): void => {
      if (!out.delete(request) || out.size > 0) return;
      note(false);
      if (asked.signal.aborted) cut(live, 'cancelled');
    };
    const ask = async (): Promise<void> => {
      if (await takeBack?.().catch(() => false)) over();
      else if (out.has(request)) note(true);
    };
    if (takeBack) asked.signal.addEventListener('abort', () => void ask(), { once: true });
    else note(true);
    return over;
  };
  return { sent, noted: () => noting };
};

/** Notes progress at most so often, the newest last. */
export const followProgress = ({ db, instance, log }: Noting, live: LiveJob) => {
  let fraction = 0;
  let preview: (() => Promise<string>) | undefined;
  let changed = false;
  let busy: Promise<void> | null = null;
  let last = 0;
  const noteAll = async (): Promise<void> => {
    while (changed && !live.reason) {
      await sleep(Math.max(0, last + progressMs - Date.now()));
      last = Date.now();
      changed = false;
      const make = preview;
      preview = undefined;
      try {
        const image = make ? await make() : '';
        await noteProgress(db, instance.id, { id: live.id, progress: fraction, preview: image });
      } catch (error) {
        log.warn({ err: error, job: live.id }, 'the progress of a job could not be noted');
      }
    }
  };
  const note: JobIo['progress'] = (now, image) => {
    // All of it is done when it is delivered, and not before.
    fraction = Math.min(0.99, Math.max(fraction, Number.isFinite(now) ? now : 0));
    preview = image ?? preview;
    changed = true;
    busy ??= noteAll().finally(() => {
      busy = null;
    });
  };
  const settle = async (): Promise<void> => {
    changed = false;
    await busy;
  };
  return { note, settle };
};
