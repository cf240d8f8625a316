import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { ImageIo, ImageOrder } from '../image-engine.ts';
import { createBuiltInCanvas } from './built-in-canvas.ts';

const engine = createBuiltInCanvas({ seconds: 0 });

const orderOf = (prompt: string, more: Partial<ImageOrder> = {}): ImageOrder => ({
  task: 'generate',
  model: 'builtin-canvas',
  prompt,
  n: 1,
  width: 256,
  height: 192,
  parameters: { seed: 7 },
  base: null,
  strength: 75,
  resizeMode: 0,
  control: null,
  references: { character: [], style: [] },
  background: null,
  remote: null,
  ...more,
});

const ioOf = (more: Partial<ImageIo> = {}): ImageIo => ({
  signal: new AbortController().signal,
  progress: () => {},
  remember: () => Promise.resolve(),
  resume: null,
  ...more,
});

test('a thread draws so many pictures, each with its seed, and tells truly how far it is', async () => {
  const told: number[] = [];
  const previews: Buffer[] = [];
  const { pictures } = await engine.run(
    orderOf('雪山 湖', { n: 2, parameters: { seed: 2 ** 32 - 1 } }),
    ioOf({
      progress: (fraction, preview) => {
        told.push(fraction);
        if (preview) previews.push(preview);
      },
    }),
  );
  expect(pictures.map(({ seed, error }) => ({ seed, error }))).toEqual([
    { seed: 2 ** 32 - 1, error: '' },
    { seed: 0, error: '' },
  ]);
  for (const { data } of pictures)
    expect(await sharp(data!).metadata()).toMatchObject({ format: 'png', width: 256, height: 192 });
  expect(told).toEqual([...told].sort((a, b) => a - b));
  expect(told.at(-1)).toBeCloseTo(1, 6);
  expect((await sharp(previews[0]).metadata()).format).toBe('jpeg');
});

test('who leaves is let go at once, and the next order is drawn', async () => {
  const slow = createBuiltInCanvas({ seconds: 60 });
  const stop = new AbortController();
  const started = performance.now();
  const running = slow.run(
    orderOf('海'),
    ioOf({ signal: stop.signal, progress: () => stop.abort(new Error('left')) }),
  );
  await expect(running).rejects.toThrow('left');
  expect(performance.now() - started).toBeLessThan(10_000);
  const { pictures } = await engine.run(orderOf('海'), ioOf());
  expect(pictures).toHaveLength(1);
});
