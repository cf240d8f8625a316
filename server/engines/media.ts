import { workerUrl } from '../worker-url.ts';
import { createThreadWork } from './thread-work.ts';

/** What a file of sound or moving images is, by what stands in it. */
export interface MediaFacts {
  /** Without parameters, such as `video/mp4`. */
  mime: string;
  seconds: number;
  /** Of its moving images; 0: there are none. */
  width: number;
  height: number;
  sound: boolean;
}

/** What the thread that looks is asked for. */
export interface LookJob {
  task: Uint8Array;
  answer: MediaFacts | null;
}

const look = createThreadWork<LookJob>({
  url: workerUrl('./media-worker.ts', import.meta.url),
  threads: 1,
  workMs: 15_000,
  failure: (why) => new Error(why),
});

/** Looks at a file in a thread: it may be made to be hard to read. Null: it is none that is known. */
export const lookAtMedia = (data: Buffer, signal: AbortSignal): Promise<MediaFacts | null> =>
  look(data, signal).catch(() => {
    signal.throwIfAborted();
    return null;
  });
