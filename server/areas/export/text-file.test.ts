import { expect, test } from 'vitest';
import { createTextFile } from './text-file.ts';

test('others are served while a long text is put together, and nothing of it is lost', async () => {
  let served = 0;
  const serve = () => {
    served += 1;
    next = setImmediate(serve);
  };
  let next = setImmediate(serve);
  const file = createTextFile();
  const lines = Array.from({ length: 4_000 }, (_, at) => `第 ${at} 行${'字🎉'.repeat(200)}\n`);
  for (const line of lines) await file.add(line);
  clearImmediate(next);
  expect(file.end('<', '>').toString()).toBe(`<${lines.join('')}>`);
  expect(served).toBeGreaterThan(5);
});
