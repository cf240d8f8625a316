import { availableParallelism } from 'node:os';
import { startTaskThread, type TaskThread } from '#server/task-thread.ts';
import { workerUrl } from '#server/worker-url.ts';
import { ImageEngineError } from '../image-engine.ts';
import type { CanvasAnswer, CanvasTask } from '#packages/canvas/task.ts';
import type { FromCanvas, ToCanvas } from './canvas-messages.ts';

/** How long a thread stays without work, ms. */
const idle = 60_000;
/** One processor is left to the server. */
const mostThreads = Math.min(4, Math.max(1, availableParallelism() - 1));

interface Waiting {
  resolve: (answer: CanvasAnswer) => void;
  reject: (error: Error) => void;
  progress: (fraction: number, preview?: Buffer) => void;
}

type Thread = TaskThread<Waiting>;

const broken = () =>
  new ImageEngineError('engine_failed', '画板中断了，请重试', { retriable: true });

const failure = ({ refused, message }: FromCanvas & { kind: 'failed' }): ImageEngineError =>
  refused
    ? new ImageEngineError(refused, message, { retriable: false, askerAtFault: true })
    : new ImageEngineError('engine_failed', '画板生成失败，请重试', {
        retriable: true,
        cause: message,
      });

const hear = (message: FromCanvas, thread: Thread): void => {
  if (message.kind === 'progress') {
    const { fraction, preview } = message;
    thread.get(message.id)?.progress(fraction, preview && Buffer.from(preview));
  } else if (message.kind === 'done') thread.take(message.id)?.resolve(message.answer);
  else thread.take(message.id)?.reject(failure(message));
};

const threads = new Set<Thread>();

const pickThread = (): Thread => {
  const [least] = [...threads].sort((a, b) => a.load() - b.load());
  if (least && (least.load() === 0 || threads.size >= mostThreads)) return least;
  const thread = startTaskThread<Waiting, FromCanvas>({
    url: workerUrl('./canvas-worker.ts', import.meta.url),
    idleMs: idle,
    onMessage: hear,
    onEnd: (left, ended) => {
      threads.delete(ended);
      for (const { reject } of left) reject(broken());
    },
  });
  threads.add(thread);
  return thread;
};

/** Begins a work; gives what to call when nobody wants it any more. */
const start = (task: CanvasTask, seconds: number, waiting: Waiting): (() => void) => {
  const thread = pickThread();
  const send = (message: ToCanvas) => thread.post(message);
  const id = thread.add(waiting);
  send({ kind: 'start', id, task, seconds });
  return () => {
    send({ kind: 'stop', id });
    thread.take(id);
  };
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
      stop();
      reject(signal.reason);
    };
    const over = () => signal.removeEventListener('abort', leave);
    const stop = start(task, seconds, {
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
