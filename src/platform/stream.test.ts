import { streamCodes } from '#contract/page-errors.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** Where it was asked, in order. */
let asked: string[] = [];

beforeEach(() => {
  asked = [];
  vi.useFakeTimers();
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('document', {
    hidden: false,
    addEventListener: () => {},
    removeEventListener: () => {},
  });
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('removeEventListener', () => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Reads to the end while time flies; gives what came of it. */
const read = async (answer: () => Promise<Response>) => {
  vi.stubGlobal('fetch', (address: string) => {
    // The server is well: it is this stream that can not be had.
    if (address === '/api/health') return Promise.resolve(new Response());
    asked.push(address.replace(/\/api\/.*/, ''));
    return answer();
  });
  const { openStream } = await import('./stream.ts');
  const told: unknown[] = [];
  const reading = openStream({
    sessionId: 'a',
    historyId: 1,
    base: 'https://fast.example',
    signal: new AbortController().signal,
    onText: (text) => told.push(text),
    onReasoning: () => {},
    onTool: () => {},
    onDone: () => told.push('done'),
    onError: (error) => told.push(error),
    onConnection: (connected) => told.push(connected),
  });
  await vi.runAllTimersAsync();
  await reading;
  return told;
};

const events = (text: string) =>
  Promise.resolve(new Response(text, { headers: { 'content-type': 'text/event-stream' } }));

test('a line that stays dead is given up: two tries at the accelerator, seven here', async () => {
  const told = await read(() => Promise.reject(new TypeError('Failed to fetch')));
  expect(asked).toEqual([
    ...Array.from({ length: 2 }, () => 'https://fast.example'),
    ...Array.from({ length: 7 }, () => ''),
  ]);
  expect(told.slice(0, -1)).toEqual(Array.from({ length: 8 }, () => false));
  expect(told.at(-1)).toEqual({ code: 'connection', message: streamCodes.connection });
});

test('a line that is cut after each event is taken up again, however often', async () => {
  let at = 0;
  const told = await read(() => {
    at += 1;
    // Each time it begins again at the first.
    const all = Array.from(
      { length: at },
      (_, each) => `id: ${each + 1}\ndata: "${each + 1} "\n\n`,
    );
    return events(at < 15 ? all.join('') : 'data: [DONE]\n\n');
  });
  const texts = told.filter((each) => typeof each === 'string');
  expect(texts).toEqual([...Array.from({ length: 14 }, (_, each) => `${each + 1} `), 'done']);
});
