import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../worker-url.ts';
import { ImageEngineError } from '../image-engine.ts';
import type { CanvasAnswer, CanvasTask, FromCanvas, ToCanvas } from './canvas-task.ts';

/** How long a thread stays without work, ms. */
const idle = 60_000;
/** One processor is left to the server. */
const mostThreads = Math.min(4, Math.max(1, availableParallelism() - 1));

interface Waiting {
  resolve: (answer: CanvasAnswer) => void;
  reject: (error: Error) => void;
  progress: (fraction: number, preview?: Buffer) => void;
}

interface Thread {
  load: () => number;
  run: (task: CanvasTask, seconds: number, waiting: Waiting) => { stop: () => void };
}

const broken = () =>
  new ImageEngineError('engine_failed', '画板中断了，请重试', { retriable: true });

const startThread = (onEnd: (thread: Thread) => void): Thread => {
  const worker = new Worker(workerUrl('./canvas-worker.ts', import.meta.url));
  const tasks = new Map<number, Waiting>();
  let made = 0;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    onEnd(thread);
    for (const { reject } of tasks.values()) reject(broken());
    tasks.clear();
    void worker.terminate();
  };
  const settle = (id: number): Waiting | undefined => {
    const waiting = tasks.get(id);
    tasks.delete(id);
    clearTimeout(timer);
    if (tasks.size === 0) timer = setTimeout(end, idle).unref();
    return waiting;
  };
  const send = (message: ToCanvas) => worker.postMessage(message, []);
  worker.on('message', (message: FromCanvas) => {
    if (message.kind === 'progress') {
      const { fraction, preview } = message;
      tasks.get(message.id)?.progress(fraction, preview && Buffer.from(preview));
    } else if (message.kind === 'done') settle(message.id)?.resolve(message.answer);
    else
      settle(message.id)?.reject(
        message.refused
          ? new ImageEngineError(message.refused, message.message, {
              retriable: false,
              askerAtFault: true,
            })
          : new ImageEngineError('engine_failed', '画板没有画成，请重试', {
              retriable: true,
              cause: message.message,
            }),
      );
  });
  worker.on('error', end);
  worker.on('exit', end);
  // It holds no process back that wants to end.
  worker.unref();
  const thread: Thread = {
    load: () => tasks.size,
    run: (task, seconds, waiting) => {
      made += 1;
      const id = made;
      clearTimeout(timer);
      tasks.set(id, waiting);
      send({ kind: 'start', id, task, seconds });
      return {
        stop: () => {
          send({ kind: 'stop', id });
          settle(id);
        },
      };
    },
  };
  return thread;
};

const threads = new Set<Thread>();

const pickThread = (): Thread => {
  const [least] = [...threads].sort((a, b) => a.load() - b.load());
  if (least && (least.load() === 0 || threads.size >= mostThreads)) return least;
  const thread = startThread((ended) => threads.delete(ended));
  threads.add(thread);
  return thread;
};

/**
 * Does a work in a thread, spread over so many seconds. When the signal is aborted it ends at once.
 * @throws ImageEngineError; the signal's reason
 */
export const workInThread = (
  task: CanvasTask,
  seconds: number,
  signal: AbortSignal,
  progress: (fraction: number, preview?: Buffer) => void = () => {},
): Promise<CanvasAnswer> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const leave = () => {
      work.stop();
      reject(signal.reason);
    };
    const over = () => signal.removeEventListener('abort', leave);
    const work = pickThread().run(task, seconds, {
      resolve: (answer) => {
        over();
        resolve(answer);
      },
      reject: (error) => {
        over();
        reject(error);
      },
      progress,
    });
    signal.addEventListener('abort', leave, { once: true });
  });
