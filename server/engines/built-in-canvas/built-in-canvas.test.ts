import sharp from 'sharp';
import { expect, test, vi } from 'vitest';
import type { ImageIo, ImageOrder } from '../image-engine.ts';
import { profiles } from '#packages/canvas/profiles.ts';
import { createBuiltInCanvas } from './built-in-canvas.ts';

vi.setConfig({ testTimeout: 60_000 });

const engine = createBuiltInCanvas({ seconds: 0 });

/** Large enough for what is looked for; four times as large takes four times as long. */
const usual = { width: 128, height: 96 };

const orderOf = (prompt: string, more: Partial<ImageOrder> = {}): ImageOrder => ({
  task: 'generate',
  model: 'builtin-canvas',
  prompt,
  n: 1,
  ...usual,
  parameters: { seed: 7 },
  base: null,
  strength: 75,
  resizeMode: 0,
  control: null,
  references: { character: [], style: [] },
  blend: [],
  background: null,
  remote: null,
  ...more,
});

const ioOf = (more: Partial<ImageIo> = {}): ImageIo => ({
  signal: new AbortController().signal,
  stopped: new AbortController().signal,
  sent: () => () => {},
  progress: () => {},
  remember: () => Promise.resolve(),
  resume: null,
  ...more,
});

test('hands that are there are listed', async () => {
  const { loras } = await engine.choices(AbortSignal.timeout(5000));
  expect(loras.map(({ key }) => key)).toEqual(profiles.map(({ key }) => key));
});

test('what it cannot do is refused, not pretended', async () => {
  await expect(engine.run(orderOf('山', { task: 'action' }), ioOf())).rejects.toMatchObject({
    codeName: 'job_unsuitable',
    retriable: false,
  });
});

test('a thread draws so many images, each with its seed, and tells truly how far it is', async () => {
  const told: number[] = [];
  const previews: Buffer[] = [];
  const { images } = await engine.run(
    orderOf('雪山 湖', { n: 2, parameters: { seed: 2 ** 32 - 1 } }),
    ioOf({
      progress: (fraction, preview) => {
        told.push(fraction);
        if (preview) previews.push(preview);
      },
    }),
  );
  expect(images.map(({ seed, error }) => ({ seed, error }))).toEqual([
    { seed: 2 ** 32 - 1, error: '' },
    { seed: 0, error: '' },
  ]);
  for (const { data } of images)
    expect(await sharp(data!).metadata()).toMatchObject({ format: 'png', ...usual });
  expect(told).toEqual([...told].sort((a, b) => a - b));
  expect(told.at(-1)).toBeCloseTo(1, 6);
  expect((await sharp(previews[0]).metadata()).format).toBe('jpeg');
});

test('who leaves is let go at once, and the next order is drawn', async () => {
  // Longer than this test may last.
  const slow = createBuiltInCanvas({ seconds: 600 });
  const stop = new AbortController();
  const running = slow.run(
    orderOf('海'),
    ioOf({ signal: stop.signal, progress: () => stop.abort(new Error('left')) }),
  );
  await expect(running).rejects.toThrow('left');
  const { images } = await engine.run(orderOf('海'), ioOf());
  expect(images).toHaveLength(1);
});
