import { Worker } from 'node:worker_threads';

/** What a task may take: the thread's heap, MB; all that the process grows, bytes. */
export interface ThreadBounds {
  seconds: number;
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

/**
 * Does a task on what people send in a thread of its own, which says one thing and is ended after
 * it, or when it takes too much.
 * @throws ThreadFailure
 */
export const runGuarded = <T>(url: URL, workerData: unknown, bounds: ThreadBounds): Promise<T> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(url, {
      workerData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: bounds.heapMb, maxYoungGenerationSizeMb: 32 },
      stdout: true,
      stderr: true,
    });
    const before = process.memoryUsage.rss();
    let ended = false;
    const end = (settle: () => void) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      clearInterval(watch);
      void worker.terminate().finally(settle);
    };
    const tooMuch = () => end(() => reject(new ThreadFailure(true)));
    const broken = () => end(() => reject(new ThreadFailure(false)));
    const timer = setTimeout(tooMuch, bounds.seconds * 1000);
    // Buffers lie outside of the heap that resourceLimits bound.
    const watch = setInterval(() => {
      if (process.memoryUsage.rss() - before > bounds.growth) tooMuch();
    }, lookMs);
    worker.on('message', (answer: T) => end(() => resolve(answer)));
    worker.on('error', broken);
    worker.on('exit', broken);
  });
