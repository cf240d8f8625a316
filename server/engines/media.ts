import { createFairQueue, house, type Waiter } from '../fair-queue.ts';
import { workerUrl } from '../worker-url.ts';
import { createThreadWork } from './thread-work.ts';

/** What a file of sound or moving images is, by what stands in it. */
export interface MediaFacts {
  /** Without parameters, such as `video/mp4`. */
  mime: string;
  /** By what is in it: what its head says may be less. */
  seconds: number;
  /** Of its moving images; 0: there are none. */
  width: number;
  height: number;
  /** It has a sound that can be counted, all of it. */
  sound: boolean;
}

/** What the thread that looks is asked for. */
export interface LookJob {
  task: Uint8Array;
  answer: MediaFacts | null;
}

/** Files looked at at once, each in a thread of its own, and how many one person may have waiting. */
const looks = { atOnce: 2, waiting: 8 };

const look = createThreadWork<LookJob>({
  url: workerUrl('./media-worker.ts', import.meta.url),
  threads: looks.atOnce,
  workMs: 20_000,
  failure: (why) => new Error(why),
});

const inTurn = createFairQueue(looks.atOnce, looks.waiting);

/**
 * Looks at a file in a thread, one that a service of ours made where nobody is named: it may be made to be hard to read. One of each person at a time. Null:
 * it is none that is known, or takes too long.
 * @throws Refusal too_many for one who has too many waiting; the signal's reason
 */
export const lookAtMedia = (
  data: Buffer,
  signal: AbortSignal,
  who: Waiter = house,
): Promise<MediaFacts | null> =>
  inTurn(who, () =>
    look(data, signal).catch(() => {
      signal.throwIfAborted();
      return null;
    }),
  );
