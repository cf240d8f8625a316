import type * as lineModule from './line.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const reached = vi.fn<() => Promise<Response>>();

let line: typeof lineModule;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false });
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('fetch', reached);
  vi.resetModules();
  line = await import('./line.ts');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  reached.mockReset();
});

test('however much fails at once, the line is looked at soon, and found well', async () => {
  reached.mockRejectedValueOnce(new TypeError('unreached')).mockResolvedValue(new Response());
  for (let each = 0; each < 8; each++) line.lost();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reached).toHaveBeenCalledTimes(1);
  expect(line.lineIsWell()).toBe(false);
  // What fails between two looks does not put the next one off either.
  for (let each = 0; each < 4; each++) {
    line.lost();
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(line.lineIsWell()).toBe(true);
});

test('the longer nothing is reached, the more rarely it is looked for', async () => {
  reached.mockRejectedValue(new TypeError('unreached'));
  line.lost();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(reached).toHaveBeenCalledTimes(4);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(reached).toHaveBeenCalledTimes(8);
});

test('a sign that was asked for on a dead connection is asked for on another', async () => {
  reached.mockReturnValueOnce(new Promise(() => undefined)).mockResolvedValue(new Response());
  const well = line.askLine();
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await well).toBe(true);
  expect(reached).toHaveBeenCalledTimes(2);
});

test('what gets nothing while others are answered is asked again, once, and not what is being answered', async () => {
  const [dead, lively] = [vi.fn(), vi.fn()];
  line.awaitBytes(dead);
  const end = line.awaitBytes(lively);
  // No silence: the line was well all the time.
  for (let each = 0; each < 20; each++) {
    await vi.advanceTimersByTimeAsync(500);
    line.heard();
    if (each === 2) end();
  }
  expect(dead).toHaveBeenCalledTimes(1);
  expect(lively).not.toHaveBeenCalled();
});
