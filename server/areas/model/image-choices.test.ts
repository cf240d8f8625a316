import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ImageChoices, ImageEngine } from '#server/engines/image-engine.ts';
import { createImageChoices } from './image-choices.ts';

const choices = (lora: string): ImageChoices => ({
  checkpoints: [{ name: `${lora}.ckpt`, label: lora }],
  defaultCheckpoint: `${lora}.ckpt`,
  loras: [{ key: lora, label: lora }],
  styles: [],
  samplers: ['Euler'],
  upscalers: [],
  controlTypes: [{ type: 'Canny', label: '硬边缘', modules: ['canny'], models: [lora] }],
});

const engine = (ask: () => Promise<ImageChoices>) => ({ choices: ask }) as unknown as ImageEngine;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('a service is asked once a minute, and once for all who want to know at a time', async () => {
  const choicesOf = createImageChoices();
  const ask = vi.fn(() => Promise.resolve(choices('ink')));
  const channels = [{ channelId: 1, engine: engine(ask) }];
  await Promise.all([choicesOf(channels), choicesOf(channels)]);
  await choicesOf(channels);
  expect(ask).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(61_000);
  await choicesOf(channels);
  expect(ask).toHaveBeenCalledTimes(2);
});

test('one that is down counts with what it said last, and holds up none of the others', async () => {
  const choicesOf = createImageChoices();
  let up = true;
  const channels = [
    {
      channelId: 1,
      engine: engine(() => (up ? Promise.resolve(choices('ink')) : Promise.reject(new Error()))),
    },
    { channelId: 2, engine: engine(() => Promise.reject(new Error('never up'))) },
    { channelId: 3, engine: engine(() => Promise.resolve(choices('oil'))) },
  ];
  const both = await choicesOf(channels);
  expect(both.loras.map(({ key }) => key)).toEqual(['ink', 'oil']);
  expect(both.samplers).toEqual(['Euler']);
  expect(both.controlTypes).toEqual([
    { type: 'Canny', label: '硬边缘', modules: ['canny'], models: ['ink', 'oil'] },
  ]);
  expect(both.defaultCheckpoint).toBe('ink.ckpt');
  up = false;
  vi.advanceTimersByTime(61_000);
  expect(await choicesOf(channels)).toEqual(both);
  expect(await createImageChoices()(channels.slice(0, 2))).toMatchObject({
    checkpoints: [],
    defaultCheckpoint: '',
  });
});
