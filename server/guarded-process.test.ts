import { expect, test } from 'vitest';
import { runApart } from './guarded-process.ts';

const program = (code: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from 'node:worker_threads';
      const spin = (seconds) => { const end = Date.now() + seconds * 1000; while (Date.now() < end); };
      ${code}
      parentPort.postMessage('done');`)}`,
  );
const bounds = { heapMb: 64, growth: 500_000_000, seconds: 40, processorSeconds: 1 };

test('a program is ended for what it takes of the processor, not for waiting', async () => {
  const waits = program('await new Promise((resolve) => setTimeout(resolve, 1500));');
  expect(await runApart(waits, null, bounds)).toBe('done');
  await expect(runApart(program('spin(30);'), null, bounds)).rejects.toMatchObject({
    tooMuch: true,
  });
}, 60_000);
