import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { ThreadFailure, type ThreadBounds } from './guarded-thread.ts';
import { workerUrl } from './worker-url.ts';

export interface ChildTask {
  url: string;
  task: unknown;
  bounds: ThreadBounds;
}

export type ChildAnswer = { done: unknown } | { tooMuch: boolean };

/** How much longer than its task a process may take to start and to answer, ms. */
const grace = 5_000;

/**
 * Does a task on what people send in a process of its own, behind everything else that the machine
 * has to do: whatever it took of the memory goes with it, and it knows nothing of this one's
 * settings.
 * @throws ThreadFailure
 */
export const runApart = <T>(url: URL, task: unknown, bounds: ThreadBounds): Promise<T> =>
  new Promise((resolve, reject) => {
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
    let ended = false;
    const end = (settle: () => void) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      child.kill('SIGKILL');
      settle();
    };
    const fail = (tooMuch: boolean) => end(() => reject(new ThreadFailure(tooMuch)));
    const timer = setTimeout(() => fail(true), bounds.seconds * 1000 + grace);
    child.once('error', () => fail(false));
    child.once('exit', () => fail(false));
    child.on('message', (answer: ChildAnswer) => {
      if ('done' in answer) end(() => resolve(answer.done as T));
      else fail(answer.tooMuch);
    });
    child.once('spawn', () => {
      try {
        setPriority(child.pid ?? 0, constants.priority.PRIORITY_BELOW_NORMAL);
      } catch {
        // It works all the same where that may not be said.
      }
      const asked: ChildTask = { url: url.href, task, bounds };
      child.send(asked, () => undefined);
    });
  });
