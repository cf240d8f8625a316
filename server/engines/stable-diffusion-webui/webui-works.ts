import * as z from 'zod/mini';
import type { ImageChoices, ImageOrder, ImageResult } from '../image-engine.ts';
import { jsonOf, senselessReply, unsuitable, workPatience } from '../image-wire.ts';
import { drawMask, exactly, fromBase64, made, measure } from '../image-pixels.ts';
import { controlKind, upscalerFor } from './webui-choices.ts';
import { follow, type Work } from './webui-progress.ts';
import type { Webui } from './webui.ts';

const defaults = { steps: 25, cfg: 7, negativeLength: 2000 };
/** What fits into the model: as wide to high as it was, in the multiples of 8 that it can have. */
const fitting = (width: number, height: number): { width: number; height: number } => {
  const scale = Math.min(1, 2048 / Math.max(width, height));
  const side = (pixels: number) => Math.max(64, Math.round((pixels * scale) / 8) * 8);
  return { width: side(width), height: side(height) };
};

const drawn = z.object({ images: z.nullable(z.array(z.string())), info: z.string() });
const info = z.object({
  all_seeds: z.nullish(z.array(z.int())),
  index_of_first_image: z.nullish(z.int()),
});
const single = z.object({ image: z.nullable(z.string()) });

/** @throws ImageEngineError for what is no image */
export const imageIn = async (text: string | null | undefined): Promise<Buffer> => {
  const data = fromBase64(text);
  if (data === null || (await measure(data)) === null) throw senselessReply();
  return data;
};

export const one = async (data: Buffer | null): Promise<ImageResult> => ({
  images: [await made(data, null)],
  actions: [],
  revisedPrompt: '',
  remote: null,
});

/** People may name the kind alone: then its first module and model are meant. */
const controlOf = ({ control, resizeMode }: ImageOrder, choices: ImageChoices): unknown => {
  if (control === null) return undefined;
  const { module, models } = controlKind(choices, control.module);
  return {
    controlnet: {
      args: [
        {
          enabled: true,
          image: control.image.toString('base64'),
          module: module ?? 'none',
          model: models.includes(control.model) ? control.model : (models[0] ?? 'None'),
          weight: 1,
          resize_mode: Math.min(resizeMode, 2),
          control_mode: control.mode,
          pixel_perfect: true,
          guidance_start: 0,
          guidance_end: 1,
        },
      ],
    },
  };
};

/** The order as the service reads it. @throws ImageEngineError */
const bodyOf = async (
  order: ImageOrder,
  task: string,
  scripts: unknown,
): Promise<Record<string, unknown>> => {
  const { parameters: chosen, base: start } = order;
  const tags = (chosen.lora ?? [])
    .filter(({ key }) => !order.prompt.includes(`<lora:${key}:`))
    .map(({ key, weight }) => ` <lora:${key}:${weight / 100}>`);
  const body: Record<string, unknown> = {
    prompt: order.prompt + tags.join(''),
    negative_prompt: (chosen.negative_prompt ?? '').slice(0, defaults.negativeLength),
    seed: chosen.seed ?? -1,
    steps: chosen.steps ?? defaults.steps,
    cfg_scale: chosen.cfg_scale ?? defaults.cfg,
    ...fitting(order.width, order.height),
    batch_size: 1,
    n_iter: order.n,
    send_images: true,
    save_images: false,
    force_task_id: task,
    ...(chosen.sampler ? { sampler_name: chosen.sampler } : {}),
    ...(chosen.style ? { styles: [chosen.style] } : {}),
    ...(chosen.checkpoint
      ? {
          override_settings: { sd_model_checkpoint: chosen.checkpoint },
          override_settings_restore_afterwards: true,
        }
      : {}),
    ...(scripts === undefined ? {} : { alwayson_scripts: scripts }),
  };
  if (start !== null) {
    body['init_images'] = [start.toString('base64')];
    body['denoising_strength'] = Math.min(1, Math.max(0.01, order.strength / 100));
    body['resize_mode'] = order.resizeMode;
  }
  if (order.task === 'edit') {
    const size = start && (await measure(start));
    const { mask: part, brush, brush_inverted } = chosen;
    if (!size || !part) throw unsuitable('请先选择要修改的图片和区域');
    const mask = await drawMask(size, { mask: part, brush, brush_inverted }, 'white');
    Object.assign(body, {
      mask: mask.toString('base64'),
      mask_blur: 4,
      // What was there is drawn over, and only in the region.
      inpainting_fill: 1,
      inpaint_full_res: false,
      inpainting_mask_invert: 0,
    });
  }
  return body;
};

export const generate = async (
  webui: Webui,
  order: ImageOrder,
  work: Work,
  choices: () => Promise<ImageChoices>,
): Promise<ImageResult> => {
  const scripts = order.control === null ? undefined : controlOf(order, await choices());
  const body = await bodyOf(order, work.task, scripts);
  const path = order.base === null ? 'sdapi/v1/txt2img' : 'sdapi/v1/img2img';
  const answer = await follow(webui, work, { from: 0.02, to: 0.98 }, (signal) =>
    webui.call(path, drawn, signal, body, workPatience),
  );
  const told = info.safeParse(jsonOf(Buffer.from(answer.info)));
  const seeds = told.data?.all_seeds ?? [];
  // A grid of all may stand before them, and what the controlnet saw after them.
  const given = (answer.images ?? []).slice(Math.max(0, told.data?.index_of_first_image ?? 0));
  const list = await Promise.all(
    given.slice(0, order.n).map((image, at) => made(fromBase64(image), seeds[at] ?? null)),
  );
  return { images: exactly(list, order.n), actions: [], revisedPrompt: '', remote: null };
};

export const upscale = async (
  webui: Webui,
  order: ImageOrder,
  work: Work,
  choices: () => Promise<ImageChoices>,
): Promise<ImageResult> => {
  if (order.base === null) throw unsuitable('请先选择要放大的图片');
  const body = {
    image: order.base.toString('base64'),
    resize_mode: 0,
    upscaling_resize: order.parameters.resize ?? 2,
    upscaler_1: upscalerFor(await choices(), order.parameters.upscaler),
    show_extras_results: true,
  };
  const { image } = await follow(webui, work, { from: 0.05, to: 0.95 }, (signal) =>
    webui.call('sdapi/v1/extra-single-image', single, signal, body, workPatience),
  );
  return one(fromBase64(image));
};

/** The image without its background, as PNG. */
export const cutOut = async (webui: Webui, order: ImageOrder, work: Work): Promise<Buffer> => {
  if (order.base === null) throw unsuitable('请先选择图片');
  const body = {
    input_image: order.base.toString('base64'),
    model: 'u2net',
    return_mask: false,
    alpha_matting: false,
  };
  const { image } = await follow(webui, work, { from: 0.05, to: 0.9 }, (signal) =>
    webui.call('rembg', single, signal, body, workPatience),
  );
  return imageIn(image);
};
