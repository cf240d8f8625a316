import { runGuarded, ThreadFailure } from './guarded-thread.ts';
import type { ChildAnswer, ChildTask } from './guarded-process.ts';

/** What guarded-process.ts starts: does one task in a thread, says what came of it, and ends. */

process.on('disconnect', () => process.exit());
process.once('message', ({ url, task, bounds }: ChildTask) => {
  const answer = (of: ChildAnswer) => process.send?.(of, () => process.exit());
  runGuarded(new URL(url), task, bounds).then(
    (done) => answer({ done }),
    (error: unknown) => answer({ tooMuch: error instanceof ThreadFailure && error.tooMuch }),
  );
});
