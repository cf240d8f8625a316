import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { timeLimit } from './time-limit.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('a limit beside another signal is kept, whatever is collected meanwhile', async () => {
  let reason: unknown;
  const other = new AbortController();
  AbortSignal.any([other.signal, timeLimit(100)]).addEventListener('abort', ({ target }) => {
    reason = (target as AbortSignal).reason;
  });
  for (let turn = 0; turn < 5; turn++) {
    await sleep(10);
    collect();
  }
  await expect.poll(() => (reason as DOMException | undefined)?.name).toBe('TimeoutError');
});
