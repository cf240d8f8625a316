import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { workerUrl } from '#server/worker-url.ts';
import { openReader } from './read-file.ts';
import type { ReadAnswer, ReadTask } from './read-task.ts';

const reader = openReader({ seconds: 60, owner: { person: '1', guest: false } });
afterAll(() => reader.close());

/** A text of so many passages. */
const textOf = (count: number) => ({
  kind: 'text' as const,
  data: new Uint8Array(Buffer.from(Array.from({ length: count }, (_, at) => at).join('\n'))),
  separator: '\n',
  size: 100,
});

test('passages come a few at a time, all of them in their order, and no more than 50,000', async () => {
  const { chunks } = await reader.passages(textOf(50_000));
  expect(chunks.map(({ content }) => content)).toEqual(
    Array.from({ length: 50_000 }, (_, at) => String(at)),
  );
  await expect(reader.passages(textOf(50_001))).rejects.toThrow('请分成几个');
  const stop = AbortSignal.abort(new Error('cancelled'));
  await expect(reader.passages(textOf(2_000), stop)).rejects.toThrow('cancelled');
  // What its reader did not take is not taken for the next file's.
  expect((await reader.passages(textOf(3))).chunks).toHaveLength(3);

  const worker = new Worker(workerUrl('./read-worker.ts', import.meta.url), { execArgv: [] });
  const ask = async (task: ReadTask) => {
    worker.postMessage(task, []);
    return ((await once(worker, 'message')) as [ReadAnswer<'passages'>])[0];
  };
  expect(await ask({ want: 'passages', ...textOf(1_200) })).toMatchObject({
    done: { chunks: { length: 500 }, left: 700 },
  });
  for (const left of [200, 0])
    expect(await ask({ want: 'more' })).toMatchObject({ done: { left } });
  await worker.terminate();
}, 60_000);

test('a file of single letters is priced as one text', async () => {
  const data = new Uint8Array(Buffer.from('字\n\n'.repeat(20_000)));
  const task = { want: 'segments', kind: 'markdown', data, learned: true } as const;
  const { segments } = await reader.read<'segments'>(task);
  expect(segments).toHaveLength(1);
  expect(segments[0]?.replaceAll('\n', '')).toBe('字'.repeat(20_000));
}, 60_000);
