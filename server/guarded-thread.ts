import { Worker } from 'node:worker_threads';

/** What a task may take: the thread's heap, MB; all that the process grows, bytes. */
export interface ThreadBounds {
  seconds: number;
  /** Of the processor, s, for what runs in a process of its own: a busy machine ends nobody's task. */
  processorSeconds?: number;
  heapMb: number;
  growth: number;
}

const lookMs = 50;

/** Why a thread gave nothing. */
export class ThreadFailure extends Error {
  /** It took too long or too much; else it broke. */
  readonly tooMuch: boolean;
  constructor(tooMuch: boolean) {
    super(tooMuch ? 'the task took too much' : 'the task broke');
    this.tooMuch = tooMuch;
  }
}

const startThread = (url: URL, { heapMb }: ThreadBounds, workerData?: unknown): Worker =>
  new Worker(url, {
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 },
    stdout: true,
    stderr: true,
  });

/** What the thread says next; it is ended when that takes too much. @throws ThreadFailure */
const nextWord = <T>(
  worker: Worker,
  { seconds, processorSeconds = Infinity, growth }: ThreadBounds,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const before = process.memoryUsage.rss();
    const usage = process.cpuUsage();
    const processorTime = () => {
      const { user, system } = process.cpuUsage(usage);
      return (user + system) / 1e6;
    };
    const stop = () => {
      clearTimeout(timer);
      clearInterval(watch);
      worker.off('message', told);
      worker.off('error', broken);
      worker.off('exit', broken);
    };
    const fail = (tooMuch: boolean) => {
      stop();
      worker.on('error', () => undefined);
      void worker.terminate().finally(() => reject(new ThreadFailure(tooMuch)));
    };
    const broken = () => fail(false);
    const told = (answer: T) => {
      stop();
      resolve(answer);
    };
    const timer = setTimeout(() => fail(true), seconds * 1000);
    // Buffers lie outside of the heap that resourceLimits bound.
    const watch = setInterval(() => {
      if (process.memoryUsage.rss() - before > growth) fail(true);
      else if (processorTime() > processorSeconds) fail(true);
    }, lookMs);
    worker.on('message', told);
    worker.on('error', broken);
    worker.on('exit', broken);
  });

/**
 * Does a task on what people send in a thread of its own, which says one thing and is ended after
 * it, or when it takes too much.
 * @throws ThreadFailure
 */
export const runGuarded = async <T>(
  url: URL,
  workerData: unknown,
  bounds: ThreadBounds,
): Promise<T> => {
  const worker = startThread(url, bounds, workerData);
  const answer = await nextWord<T>(worker, bounds);
  await worker.terminate();
  return answer;
};

/** Does one task after the other in one thread, each within the bounds. @throws ThreadFailure */
export const openGuarded = (url: URL, bounds: ThreadBounds) => {
  const worker = startThread(url, bounds);
  const before = process.memoryUsage.rss();
  return {
    ask: (task: unknown): Promise<unknown> => {
      worker.postMessage(task, []);
      return nextWord(worker, bounds);
    },
    /** Bytes that were not given back. */
    kept: () => process.memoryUsage.rss() - before,
  };
};
