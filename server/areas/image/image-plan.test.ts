import * as z from 'zod/mini';
import { expect, test } from 'vitest';
import { imageRequest, storedImageRequest } from '#contract/chat.ts';
import type { ImageModel, ImageParameters, ImageTask } from '#contract/image.ts';
import { keptParameters, planImages, requestOf } from './image-plan.ts';

const image: ImageModel = {
  family: 'midjourney',
  abilities: ['text-to-image', 'image-to-image', 'upscale', 'edit', 'remove-background'],
  sizes: [],
  checkpoints: [],
  default_checkpoint: '',
  default_count: 4,
  max_count: 4,
  default_translate: true,
};
const mask = { left: 0, top: 0, width: 10, height: 10 };
const planOf = (task: ImageTask, parameters: ImageParameters = {}) =>
  planImages(
    {
      task,
      human: '喜鹊',
      request: z.parse(imageRequest, { translate: 1, base_image: '/files/a.png', parameters }),
      translateWith: { model: '', guest: false },
    },
    { factor: 1, image },
  );

test('words are translated where they tell what is made, and are not paid for elsewhere', () => {
  for (const plan of [
    planOf('img2img'),
    planOf('vary'),
    planOf('edit', { mask }),
    planOf('action', { mask }),
    planOf('action', { zoom: 150 }),
  ])
    expect(plan.translate).not.toBeNull();
  for (const plan of [planOf('upscale'), planOf('remove-bg'), planOf('action')])
    expect(plan.translate).toBeNull();
});

test('what was painted over is given to the service, and not kept with the image', () => {
  const brush = [{ size: 4, points: [1, 2] }];
  const { parameters } = planOf('edit', { mask, brush });
  expect(parameters.brush).toEqual(brush);
  expect(keptParameters(parameters)).toEqual({ mask });
});

test('words are translated as the call says, else as the message, else as is usual for the model', () => {
  const said = (
    stored: 0 | 1 | undefined,
    called: 0 | 1 | undefined,
    usual: boolean,
  ): number | undefined =>
    requestOf(
      z.parse(storedImageRequest, stored === undefined ? {} : { translate: stored }),
      { history_id: 1, request_id: '1', translate: called },
      { factor: 1, image: { ...image, default_translate: usual }, sizeRates: null },
      null,
    ).translate;
  expect(said(undefined, undefined, true)).toBe(1);
  expect(said(undefined, undefined, false)).toBe(0);
  expect(said(undefined, 0, true)).toBe(0);
  expect(said(0, undefined, true)).toBe(0);
  expect(said(1, 0, false)).toBe(0);
  expect(said(0, 1, false)).toBe(1);
});
