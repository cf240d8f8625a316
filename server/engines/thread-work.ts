import { parentPort } from 'node:worker_threads';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { startTaskThread, type TaskThread } from '../task-thread.ts';

/** What a thread is asked for and gives. */
export interface ThreadJob {
  task: unknown;
  answer: unknown;
}

/** What a thread that works for an engine is told, and what it says. */
type ToThread<Task> = { kind: 'start'; id: number; task: Task } | { kind: 'stop'; id: number };
type FromThread<Answer> =
  | { kind: 'progress'; id: number; fraction: number; preview?: Uint8Array }
  | { kind: 'part'; id: number; part: Uint8Array }
  | { kind: 'done'; id: number; answer: Answer }
  | { kind: 'failed'; id: number; message: string };

/** How far a work is, 0 to 1, and an image of it in any format that sharp reads. */
type Progress = (fraction: number, preview?: Buffer) => void;

/** What is told of a work while it is done. */
interface Meanwhile {
  progress?: Progress;
  /** A part of what it makes, in order. */
  part?: (part: Buffer) => void;
}

interface Waiting<Answer> extends Meanwhile {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

export interface ThreadWorkOptions {
  url: URL;
  /** Threads at once. */
  threads: number;
  /** How long the works of a thread may take without one of them coming to its end, ms. */
  workMs: number;
  /** How long a thread stays without work, ms; a minute where it is not said. */
  idleMs?: number;
  /** What a work rejects with that failed, or whose thread is gone. */
  failure: (why: string) => Error;
}

const usualIdleMs = 60_000;

/** Does works in threads, so that nothing else in the server stands still meanwhile. */
export const createThreadWork = <J extends ThreadJob>(options: ThreadWorkOptions) => {
  type Answer = J['answer'];
  type Thread = TaskThread<Waiting<Answer>>;
  const threads = new Set<Thread>();

  const hear = (message: FromThread<Answer>, thread: Thread): void => {
    const { id } = message;
    if (message.kind === 'progress') {
      const { fraction, preview } = message;
      thread.get(id)?.progress?.(fraction, preview && Buffer.from(preview));
    } else if (message.kind === 'part') thread.get(id)?.part?.(Buffer.from(message.part));
    else if (message.kind === 'done') thread.take(id)?.resolve(message.answer);
    else thread.take(id)?.reject(options.failure(message.message));
  };

  const pick = (): Thread => {
    const [least] = [...threads].sort((a, b) => a.load() - b.load());
    if (least && (least.load() === 0 || threads.size >= options.threads)) return least;
    const thread = startTaskThread<Waiting<Answer>, FromThread<Answer>>({
      url: options.url,
      idleMs: options.idleMs ?? usualIdleMs,
      workMs: options.workMs,
      onMessage: hear,
      onEnd: (left, ended) => {
        threads.delete(ended);
        for (const { reject } of left) reject(options.failure('the thread is gone'));
      },
    });
    threads.add(thread);
    return thread;
  };

  /** When the signal is aborted it ends at once. @throws what `failure` made; the signal's reason */
  return (task: J['task'], signal: AbortSignal, meanwhile: Meanwhile = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const thread = pick();
      const over = () => signal.removeEventListener('abort', leave);
      const id = thread.add({
        resolve: (answer) => {
          over();
          resolve(answer);
        },
        reject: (error) => {
          over();
          reject(error);
        },
        ...meanwhile,
      });
      const leave = () => {
        thread.post({ kind: 'stop', id } satisfies ToThread<J['task']>);
        thread.take(id);
        reject(signal.reason);
      };
      thread.post({ kind: 'start', id, task } satisfies ToThread<J['task']>);
      signal.addEventListener('abort', leave, { once: true });
    });
};

/** How a work in a thread tells how far it is. */
export interface ThreadIo {
  /** Lets others have a turn; rejects when nobody wants the work any more. */
  turn: () => Promise<void>;
  /** A preview is made only when it is time to show one. */
  progress: (fraction: number, preview?: () => Promise<Uint8Array>) => Promise<void>;
  /** Hands on what is made already. */
  part: (part: Uint8Array) => void;
}

/** Previews are shown at most so often, ms. */
const previewPause = 400;

/** Of a thread: does what it is given. */
export const serveThread = <J extends ThreadJob>(
  work: (task: J['task'], io: ThreadIo) => Promise<J['answer']>,
): void => {
  const running = new Map<number, AbortController>();
  const send = (message: FromThread<J['answer']>) => parentPort?.postMessage(message, []);
  parentPort?.on('message', (message: ToThread<J['task']>) => {
    const { id } = message;
    if (message.kind === 'stop') {
      running.get(id)?.abort();
      return;
    }
    const stop = new AbortController();
    running.set(id, stop);
    let shown = performance.now();
    const turn = async () => {
      await yieldTurn();
      stop.signal.throwIfAborted();
    };
    const progress: ThreadIo['progress'] = async (fraction, preview) => {
      if (preview && performance.now() - shown >= previewPause) {
        shown = performance.now();
        send({ kind: 'progress', id, fraction, preview: await preview() });
      } else send({ kind: 'progress', id, fraction });
      await turn();
    };
    const part: ThreadIo['part'] = (made) => send({ kind: 'part', id, part: made });
    work(message.task, { turn, progress, part })
      .then(
        (answer) => send({ kind: 'done', id, answer }),
        (error: unknown) =>
          send({ kind: 'failed', id, message: error instanceof Error ? error.message : 'unknown' }),
      )
      .finally(() => running.delete(id));
  });
};
