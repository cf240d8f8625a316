import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { ThreadFailure, type ThreadBounds } from './guarded-thread.ts';
import { workerUrl } from './worker-url.ts';

export interface ChildOrder {
  url: string;
  task: unknown;
  bounds: ThreadBounds;
  /** More may come after it. */
  several: boolean;
}

/** `last`: the process is to end after it. */
export type ChildAnswer = { done: unknown; last: boolean } | { tooMuch: boolean };

/** How much longer than its task a process may take to start and to answer, ms. */
const grace = 5_000;
/** A process that may be asked again ends when it is not for so long, ms. */
const idleMs = 10_000;

const start = (): ChildProcess => {
  const entry = workerUrl('./guarded-child-worker.ts', import.meta.url);
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', `await import(${JSON.stringify(entry.href)})`],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    },
  );
  child.once('spawn', () => {
    try {
      setPriority(child.pid ?? 0, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // It works all the same where that may not be said.
    }
  });
  child.on('error', () => undefined);
  return child;
};

/** Tells a process what to do, and ends it when that takes too much. @throws ThreadFailure */
const order = (child: ChildProcess, asked: ChildOrder) =>
  new Promise<{ done: unknown; last: boolean }>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      child.off('error', broken);
      child.off('exit', broken);
      child.off('message', told);
    };
    const fail = (tooMuch: boolean) => {
      stop();
      child.kill('SIGKILL');
      reject(new ThreadFailure(tooMuch));
    };
    const broken = () => fail(false);
    const told = (answer: ChildAnswer) => {
      if (!('done' in answer)) {
        fail(answer.tooMuch);
        return;
      }
      stop();
      resolve(answer);
    };
    const timer = setTimeout(() => fail(true), asked.bounds.seconds * 1000 + grace);
    child.on('error', broken);
    child.on('exit', broken);
    child.on('message', told);
    child.send(asked, (error) => {
      if (error) broken();
    });
  });

/**
 * Does a task on what people send in a process of its own, behind everything else that the machine
 * has to do: whatever it took of the memory goes with it, and it knows nothing of this one's
 * settings.
 * @throws ThreadFailure
 */
export const runApart = async <T>(url: URL, task: unknown, bounds: ThreadBounds): Promise<T> => {
  const child = start();
  const asked = { url: url.href, task, bounds, several: false };
  const { done } = await order(child, asked);
  child.kill('SIGKILL');
  return done as T;
};

export interface ApartProcess {
  /**
   * One task at a time.
   * @param goesOn whether an answer is not all of it: the same process is asked for the rest
   * @throws ThreadFailure
   */
  ask: <T>(task: unknown, goesOn?: (answer: T) => boolean) => Promise<T>;
  close: () => void;
}

/**
 * The same for tasks that come one after the other, each within the bounds: a process does them until
 * it fails, keeps too much of the memory, or is not asked any more.
 */
export const openApart = (url: URL, bounds: ThreadBounds): ApartProcess => {
  let child: ChildProcess | null = null;
  let idle: NodeJS.Timeout | undefined;
  const close = () => {
    clearTimeout(idle);
    child?.kill('SIGKILL');
    child = null;
  };
  return {
    ask: async <T>(task: unknown, goesOn?: (answer: T) => boolean) => {
      clearTimeout(idle);
      if (child && (child.exitCode !== null || child.signalCode !== null)) child = null;
      child ??= start();
      try {
        const { done, last } = await order(child, { url: url.href, task, bounds, several: true });
        if (last && goesOn?.(done as T) !== true) close();
        else idle = setTimeout(close, idleMs);
        return done as T;
      } catch (error) {
        close();
        throw error;
      }
    },
    close,
  };
};
