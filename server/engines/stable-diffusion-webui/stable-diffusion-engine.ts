import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { ImageAbility } from '#contract/image.ts';
import type { ImageChoices, ImageEngine } from '../image-engine.ts';
import { placeBefore } from '../image-pixels.ts';
import { senselessReply, unsuitable } from '../image-wire.ts';
import { controlKind, readChoices } from './webui-choices.ts';
import { interrupt } from './webui-progress.ts';
import { cutOut, generate, imageIn, one, upscale } from './webui-works.ts';
import { createWebui, type StableDiffusionOptions } from './webui.ts';

/** Of every webui; extensions add to it. */
export const webuiAbilities: readonly ImageAbility[] = [
  'text-to-image',
  'image-to-image',
  'edit',
  'upscale',
  'interrogate',
  'negative-prompt',
  'seed',
  'lora',
];

const detected = z.looseObject({ images: z.array(z.string()) });
const remembered = z.object({ task: z.string() });

/** AUTOMATIC1111's stable-diffusion-webui started with `--api`, and those that speak as it does. */
export const createStableDiffusionEngine = (options: StableDiffusionOptions): ImageEngine => {
  const webui = createWebui(options);
  let known: Awaited<ReturnType<typeof readChoices>> | null = null;
  const read = async (signal: AbortSignal): Promise<ImageChoices> => {
    known = await readChoices(webui, signal);
    return known.choices;
  };

  return {
    get abilities() {
      return [
        ...webuiAbilities,
        ...((known?.choices.controlTypes.length ?? 0) > 0 ? (['controlnet'] as const) : []),
        ...(known?.cutsOut ? (['remove-background', 'edit-background'] as const) : []),
      ];
    },
    // It tells the progress of whatever it does, without saying whose.
    concurrency: 1,

    async run(order, io) {
      const earlier = remembered.safeParse(io.resume);
      // What a worker that died had ordered cannot be collected any more: it only holds this one up.
      if (earlier.success) await interrupt(webui, earlier.data.task);
      const task = `task(${randomUUID().replaceAll('-', '').slice(0, 15)})`;
      await io.remember({ task });
      const work = { io, task };
      const choices = async () => known?.choices ?? (await read(io.signal));
      switch (order.task) {
        case 'generate':
        case 'edit':
          return generate(webui, order, work, choices);
        case 'upscale':
          return upscale(webui, order, work, choices);
        case 'remove-background':
          return one(await cutOut(webui, order, work));
        case 'edit-background':
          return one(
            await placeBefore(await cutOut(webui, order, work), {
              colour: order.parameters.bg_color,
              image: order.background,
            }),
          );
        default:
          throw unsuitable('这个模型没有这样的操作');
      }
    },

    choices: read,

    async detect({ image, module, parameters }, signal) {
      const kind = controlKind(known?.choices ?? (await read(signal)), module);
      const number = (name: string) =>
        parameters[name] === undefined ? {} : { [`controlnet_${name}`]: parameters[name] };
      const { images } = await webui.call(
        'controlnet/detect',
        detected,
        signal,
        {
          controlnet_module: kind.module,
          controlnet_input_images: [image.toString('base64')],
          ...number('processor_res'),
          ...number('threshold_a'),
          ...number('threshold_b'),
        },
        { firstByteMs: 60_000, idleMs: 20_000, totalMs: 90_000 },
      );
      return imageIn(images[0]);
    },

    async interrogate({ image, model }, signal) {
      const { caption } = await webui.call(
        'sdapi/v1/interrogate',
        z.looseObject({ caption: z.nullable(z.string()) }),
        signal,
        {
          image: image.toString('base64'),
          model: model === 'clip' ? 'clip' : 'deepdanbooru',
        },
        { firstByteMs: 110_000, idleMs: 20_000, totalMs: 120_000 },
      );
      const text = (caption ?? '').trim().slice(0, 4000);
      // So it says that something went wrong, as a caption.
      if (text === '' || text === '<error>') throw senselessReply();
      return { text, chinese: '' };
    },
  };
};
