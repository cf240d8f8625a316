import { openGuarded, runGuarded, ThreadFailure } from './guarded-thread.ts';
import type { ChildAnswer, ChildOrder } from './guarded-process.ts';

/** What guarded-process.ts starts: does tasks in a thread, says what came of them, and is ended. */

process.on('disconnect', () => process.exit());

const say = (answer: ChildAnswer): void => {
  process.send?.(answer);
};

/** Whoever asks for several has them done in one thread, as long as it gives its memory back. */
let thread: ReturnType<typeof openGuarded> | null = null;

const act = async ({ url, task, bounds, several }: ChildOrder): Promise<ChildAnswer> => {
  try {
    if (!several) return { done: await runGuarded(new URL(url), task, bounds), last: true };
    thread ??= openGuarded(new URL(url), bounds);
    const done = await thread.ask(task);
    return { done, last: thread.kept() > bounds.growth / 4 };
  } catch (error) {
    return { tooMuch: error instanceof ThreadFailure && error.tooMuch };
  }
};

const obey = async (order: ChildOrder): Promise<void> => say(await act(order));

process.on('message', (order: ChildOrder) => void obey(order));
