import { expect, test } from 'vitest';
import { race } from './line-race.ts';

interface Way {
  channelId: number;
  key: string;
}
type Play = 'answers' | 'refused' | 'breaks' | 'hangs' | 'asker' | 'slow' | 'half';

const after = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });

const run = async (
  plays: readonly (readonly [number, Play])[],
  { hedgeMs = 20, deadlineMs = 60, mayHedge = true } = {},
) => {
  const asked: number[] = [];
  const told: string[] = [];
  const outer = new AbortController();
  const lines = plays.map(([channelId, key], at) => ({ channelId, key, at }));
  const end = race<Way & { at: number }, string>({
    lines,
    signal: outer.signal,
    gone: outer.signal,
    patience: () => ({ hedgeMs, deadlineMs }),
    mayHedge: () => mayHedge,
    asked: ({ at }) => asked.push(at),
    won: ({ at }) => told.push(`won ${at}`),
    lost: ({ at }) => told.push(`lost ${at}`),
    silence: () => new Error('silent'),
    failed: ({ at }, error) => {
      told.push(`failed ${at} ${error.message}`);
      return { retriable: error.message !== 'asker', sameChannel: error.message === 'refused' };
    },
    attempt: async ({ key, at }, signal, first) => {
      if (key === 'refused' || key === 'breaks' || key === 'asker') throw new Error(key);
      if (key === 'hangs') await after(10_000, signal);
      if (key === 'slow') await after(40, signal);
      if (!first()) throw new Error('not wanted');
      if (key === 'half') throw new Error('half');
      return `from ${at}`;
    },
  });
  const answer = await end.catch((error: Error) => error.message);
  return { answer, asked, told };
};

test('after a refused key comes the next key, after a broken service the next service', async () => {
  expect(
    await run([
      [1, 'refused'],
      [2, 'answers'],
      [1, 'answers'],
    ]),
  ).toMatchObject({
    answer: 'from 2',
    asked: [0, 2],
  });
  expect(
    await run([
      [1, 'breaks'],
      [1, 'answers'],
      [2, 'answers'],
    ]),
  ).toMatchObject({
    answer: 'from 2',
    asked: [0, 2],
  });
  expect(
    await run([
      [1, 'refused'],
      [1, 'refused'],
      [2, 'answers'],
    ]),
  ).toMatchObject({
    answer: 'from 2',
  });
  // Other keys of what broke are the last that is left.
  expect(
    await run([
      [1, 'breaks'],
      [1, 'answers'],
      [2, 'breaks'],
    ]),
  ).toMatchObject({
    answer: 'from 1',
  });
});

test('beside one that is silent the next is asked; the first word decides and the other is cut', async () => {
  expect(
    await run([
      [1, 'hangs'],
      [2, 'answers'],
    ]),
  ).toEqual({
    answer: 'from 1',
    asked: [0, 1],
    told: ['won 1', 'lost 0'],
  });
  expect(
    (
      await run([
        [1, 'slow'],
        [2, 'hangs'],
      ])
    ).told,
  ).toEqual(['won 0', 'lost 1']);
  // Of one service two keys are not asked at once.
  expect(
    (
      await run([
        [1, 'slow'],
        [1, 'answers'],
      ])
    ).asked,
  ).toEqual([0]);
});

test('without a hedge its deadline ends the silence, and with nobody left the call', async () => {
  expect(
    await run(
      [
        [1, 'hangs'],
        [2, 'answers'],
      ],
      { mayHedge: false },
    ),
  ).toMatchObject({
    answer: 'from 1',
    told: ['failed 0 silent', 'won 1'],
  });
  expect((await run([[1, 'hangs']])).answer).toBe('silent');
});

test('what the question is refused for is told at once; after the first word nobody else is asked', async () => {
  expect(
    await run([
      [1, 'asker'],
      [2, 'answers'],
    ]),
  ).toMatchObject({ answer: 'asker', asked: [0] });
  expect(
    await run([
      [1, 'half'],
      [2, 'answers'],
    ]),
  ).toMatchObject({ answer: 'half', asked: [0] });
});
