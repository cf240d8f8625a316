import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { ImageAbility } from '../../../contract/image.ts';
import {
  type ImageChoices,
  type ImageEngine,
  ImageEngineError,
  type ImageIo,
  type ImageOrder,
  type ImageResult,
} from '../image-engine.ts';
import {
  ask,
  jsonOf,
  mostBytes,
  refusedBy,
  senselessReply,
  slowService,
  unsuitable,
  workPatience,
  type Patience,
} from '../image-wire.ts';
import { drawMask, exactly, fromBase64, made, measure, placeBefore } from '../image-pixels.ts';
import { type Silence, usualSilence, watchSilence } from '../silence.ts';
import { groupedKinds, namedKinds } from './control-kinds.ts';

export interface StableDiffusionOptions {
  /** Such as `http://127.0.0.1:7860`. */
  baseUrl: string;
  /** `user:password` of `--api-auth`; empty: none. */
  auth: string;
  /** How often it is asked for its progress, ms. */
  pollMs?: number;
  silence?: Silence;
}

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

const defaults = {
  steps: 25,
  cfg: 7,
  upscalers: ['R-ESRGAN 4x+', '4x-UltraSharp', 'Lanczos'],
  negativeLength: 2000,
};
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
const progressOfTask = z.object({
  active: z.boolean(),
  queued: z.boolean(),
  completed: z.boolean(),
  progress: z.nullish(z.number()),
  live_preview: z.nullish(z.string()),
});
const progressOfAll = z.object({
  progress: z.number(),
  current_image: z.nullish(z.string()),
  /** Whose progress it is, of versions that tell. */
  current_task: z.nullish(z.string()),
});
const names = z.array(z.looseObject({ name: z.string() }));
const checkpoints = z.array(z.looseObject({ title: z.string(), model_name: z.string() }));
const loras = z.array(z.looseObject({ name: z.string(), alias: z.nullish(z.string()) }));
const controlTypes = z.object({
  control_types: z.record(
    z.string(),
    z.looseObject({ module_list: z.array(z.string()), model_list: z.array(z.string()) }),
  ),
});
const moduleList = z.looseObject({ module_list: z.array(z.string()) });
const modelList = z.looseObject({ model_list: z.array(z.string()) });
const detected = z.looseObject({ images: z.array(z.string()) });
const remembered = z.object({ task: z.string() });

/** How a work at the service stands, as far as it tells. */
interface Standing {
  state: 'unknown' | 'queued' | 'active';
  fraction: number;
  preview: Buffer | null;
}

/** AUTOMATIC1111's stable-diffusion-webui started with `--api`, and those that speak as it does. */
export const createStableDiffusionEngine = (options: StableDiffusionOptions): ImageEngine => {
  const base = new URL(options.baseUrl);
  const pollMs = options.pollMs ?? 1000;
  const headers: Record<string, string> =
    options.auth === ''
      ? {}
      : { authorization: `Basic ${Buffer.from(options.auth).toString('base64')}` };
  let known: ImageChoices | null = null;
  let cutsOut = false;

  const address = (path: string): URL => {
    const url = new URL(base);
    const [folder = '', query = ''] = path.split('?');
    url.pathname = `${base.pathname.replace(/\/+$/, '')}/${folder}`;
    url.search = query;
    return url;
  };

  /** The answer as the shape says. @throws ImageEngineError */
  const call = async <T extends z.ZodMiniType>(
    path: string,
    shape: T,
    signal: AbortSignal,
    json?: unknown,
    patience?: Patience,
  ): Promise<z.output<T>> => {
    const reply = await ask(address(path), {
      method: json === undefined ? 'GET' : 'POST',
      headers,
      json,
      signal,
      ...(patience ? { patience, maxBytes: mostBytes.images } : {}),
    });
    if (reply.status !== 200) throw refusedBy(reply.status);
    const parsed = shape.safeParse(jsonOf(reply.body));
    if (!parsed.success) throw senselessReply(parsed.error);
    return parsed.data;
  };

  /** What a service may lack: null instead of an error. */
  const callIfThere = async <T extends z.ZodMiniType>(
    path: string,
    shape: T,
    signal: AbortSignal,
  ): Promise<z.output<T> | null> => {
    try {
      return await call(path, shape, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ImageEngineError) return null;
      throw error;
    }
  };

  const standing = async (task: string, signal: AbortSignal): Promise<Standing> => {
    try {
      const own = await call('internal/progress', progressOfTask, signal, {
        id_task: task,
        live_preview: true,
        id_live_preview: -1,
      });
      if (own.active || own.queued)
        return {
          state: own.active ? 'active' : 'queued',
          fraction: own.progress ?? 0,
          preview: fromBase64(own.live_preview),
        };
      if (own.completed) return { state: 'unknown', fraction: 1, preview: null };
    } catch (error) {
      if (!(error instanceof ImageEngineError)) throw error;
    }
    const all = await call('sdapi/v1/progress', progressOfAll, signal);
    // Somebody else may be at it in the service's own pages: neither their progress nor their image.
    if (
      typeof all.current_task === 'string' &&
      all.current_task !== '' &&
      all.current_task !== task
    )
      return { state: 'queued', fraction: 0, preview: null };
    return {
      state: all.progress > 0 ? 'active' : 'unknown',
      fraction: all.progress,
      preview: fromBase64(all.current_image),
    };
  };

  const interrupt = async (task: string): Promise<void> => {
    const signal = AbortSignal.timeout(5000);
    try {
      const { state } = await standing(task, signal);
      // It stops whatever is being made: not what waits behind somebody else's.
      if (state === 'queued') return;
      await ask(address('sdapi/v1/interrupt'), { method: 'POST', headers, json: {}, signal });
    } catch {
      // Nobody waits for it any more; what it still makes is thrown away.
    }
  };

  /** Waits for the work while its progress is asked for; tells the service to stop on abort. */
  const follow = async <T>(
    io: ImageIo,
    task: string,
    share: { from: number; to: number },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const done = new AbortController();
    const watch = watchSilence(io.signal, options.silence ?? usualSilence);
    const signal = AbortSignal.any([watch.signal, done.signal]);
    const poll = async (): Promise<void> => {
      let highest = 0;
      for (;;) {
        await sleep(pollMs, undefined, { signal });
        const { state, fraction, preview } = await standing(task, signal).catch((): Standing => {
          signal.throwIfAborted();
          return { state: 'unknown', fraction: 0, preview: null };
        });
        if (state === 'queued') watch.waits();
        else if (fraction > 0) watch.stands(`${fraction} ${preview?.length ?? 0}`);
        highest = Math.max(highest, Math.min(1, Number.isFinite(fraction) ? fraction : 0));
        const seen = preview !== null && (await measure(preview)) !== null ? preview : undefined;
        io.progress(share.from + highest * (share.to - share.from), seen);
      }
    };
    const polling = poll().catch(() => undefined);
    try {
      return await work(watch.signal);
    } catch (error) {
      if (watch.signal.aborted) await interrupt(task);
      if (watch.silent) throw slowService(error);
      throw error;
    } finally {
      watch.end();
      done.abort();
      await polling;
    }
  };

  const control = async (order: ImageOrder, signal: AbortSignal): Promise<unknown> => {
    if (order.control === null) return undefined;
    const { image, mode } = order.control;
    let { module, model } = order.control;
    // People may name the kind alone: then its first module and model are meant.
    const { controlTypes: types } = known ?? (await choices(signal));
    const kind = types.find(
      (each) => each.type.toLowerCase() === module.toLowerCase() || each.modules.includes(module),
    );
    if (!kind) throw unsuitable('画图服务没有这种构图控制，请换一种');
    if (!kind.modules.includes(module)) module = kind.modules[0] ?? 'none';
    if (!kind.models.includes(model)) model = kind.models[0] ?? 'None';
    return {
      controlnet: {
        args: [
          {
            enabled: true,
            image: image.toString('base64'),
            module,
            model,
            weight: 1,
            resize_mode: Math.min(order.resizeMode, 2),
            control_mode: mode,
            pixel_perfect: true,
            guidance_start: 0,
            guidance_end: 1,
          },
        ],
      },
    };
  };

  const generate = async (order: ImageOrder, io: ImageIo, task: string): Promise<ImageResult> => {
    const { parameters: chosen, base: start } = order;
    const scripts = await control(order, io.signal);
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
    const path = start === null ? 'sdapi/v1/txt2img' : 'sdapi/v1/img2img';
    const answer = await follow(io, task, { from: 0.02, to: 0.98 }, (signal) =>
      call(path, drawn, signal, body, workPatience),
    );
    const told = info.safeParse(jsonOf(Buffer.from(answer.info)));
    const seeds = told.data?.all_seeds ?? [];
    // A grid of all may stand before them, and what the controlnet saw after them.
    const given = (answer.images ?? []).slice(Math.max(0, told.data?.index_of_first_image ?? 0));
    const list = await Promise.all(
      given.slice(0, order.n).map((image, at) => made(fromBase64(image), seeds[at] ?? null)),
    );
    return {
      images: exactly(list, order.n),
      actions: [],
      revisedPrompt: '',
      remote: null,
    };
  };

  const one = async (data: Buffer | null): Promise<ImageResult> => ({
    images: [await made(data, null)],
    actions: [],
    revisedPrompt: '',
    remote: null,
  });

  /** One of the names that the service has: the one that was asked for, else its best all-rounder. */
  const upscalerFor = async (wanted: string | undefined, signal: AbortSignal): Promise<string> => {
    const { upscalers } = known ?? (await choices(signal));
    if (wanted !== undefined && upscalers.length > 0 && !upscalers.includes(wanted))
      throw unsuitable('画图服务没有这种放大算法，请换一种');
    if (wanted !== undefined) return wanted;
    return (
      defaults.upscalers.find((each) => upscalers.includes(each)) ??
      upscalers.find((each) => /esrgan|sharp/i.test(each)) ??
      upscalers[0] ??
      'None'
    );
  };

  const upscale = async (order: ImageOrder, io: ImageIo, task: string): Promise<ImageResult> => {
    if (order.base === null) throw unsuitable('请先选择要放大的图片');
    const body = {
      image: order.base.toString('base64'),
      resize_mode: 0,
      upscaling_resize: order.parameters.resize ?? 2,
      upscaler_1: await upscalerFor(order.parameters.upscaler, io.signal),
      show_extras_results: true,
    };
    const { image } = await follow(io, task, { from: 0.05, to: 0.95 }, (signal) =>
      call('sdapi/v1/extra-single-image', single, signal, body, workPatience),
    );
    return one(fromBase64(image));
  };

  const cutOut = async (order: ImageOrder, io: ImageIo, task: string): Promise<Buffer> => {
    if (order.base === null) throw unsuitable('请先选择图片');
    const body = {
      input_image: order.base.toString('base64'),
      model: 'u2net',
      return_mask: false,
      alpha_matting: false,
    };
    const { image } = await follow(io, task, { from: 0.05, to: 0.9 }, (signal) =>
      call('rembg', single, signal, body, workPatience),
    );
    const data = fromBase64(image);
    if (data === null || (await measure(data)) === null) throw senselessReply();
    return data;
  };

  const choices = async (signal: AbortSignal): Promise<ImageChoices> => {
    const [models, chosen, loraList, styles, samplers, upscalers, groups, rembg] =
      await Promise.all([
        call('sdapi/v1/sd-models', checkpoints, signal),
        callIfThere(
          'sdapi/v1/options',
          z.looseObject({ sd_model_checkpoint: z.nullish(z.string()) }),
          signal,
        ),
        callIfThere('sdapi/v1/loras', loras, signal),
        callIfThere('sdapi/v1/prompt-styles', names, signal),
        callIfThere('sdapi/v1/samplers', names, signal),
        callIfThere('sdapi/v1/upscalers', names, signal),
        callIfThere('controlnet/control_types', controlTypes, signal),
        // It is there to be posted to: asked for like this, it says that this is not the way.
        ask(address('rembg'), { headers, signal }).then(
          ({ status }) => status === 405,
          () => false,
        ),
      ]);
    let kinds = groups ? groupedKinds(groups.control_types) : [];
    if (!groups) {
      const modules = await callIfThere('controlnet/module_list', moduleList, signal);
      const fitting = modules && (await callIfThere('controlnet/model_list', modelList, signal));
      if (modules && fitting) kinds = namedKinds(modules.module_list, fitting.model_list);
    }
    cutsOut = rembg;
    known = {
      checkpoints: models.map(({ title, model_name: label }) => ({ name: title, label })),
      defaultCheckpoint: chosen?.sd_model_checkpoint ?? models[0]?.title ?? '',
      loras: (loraList ?? []).map(({ name, alias }) => ({ key: name, label: alias || name })),
      styles: (styles ?? [])
        .filter(({ name }) => name.toLowerCase() !== 'none')
        .map(({ name }) => ({ name, label: name })),
      samplers: (samplers ?? []).map(({ name }) => name),
      upscalers: (upscalers ?? []).map(({ name }) => name).filter((name) => name !== 'None'),
      controlTypes: kinds,
    };
    return known;
  };

  return {
    get abilities() {
      return [
        ...webuiAbilities,
        ...((known?.controlTypes.length ?? 0) > 0 ? (['controlnet'] as const) : []),
        ...(cutsOut ? (['remove-background', 'edit-background'] as const) : []),
      ];
    },
    // It tells the progress of whatever it does, without saying whose.
    concurrency: 1,

    async run(order, io) {
      const earlier = remembered.safeParse(io.resume);
      // What a worker that died had ordered cannot be collected any more: it only holds this one up.
      if (earlier.success) await interrupt(earlier.data.task);
      const task = `task(${randomUUID().replaceAll('-', '').slice(0, 15)})`;
      await io.remember({ task });
      switch (order.task) {
        case 'generate':
        case 'edit':
          return generate(order, io, task);
        case 'upscale':
          return upscale(order, io, task);
        case 'remove-background':
          return one(await cutOut(order, io, task));
        case 'edit-background':
          return one(
            await placeBefore(await cutOut(order, io, task), {
              colour: order.parameters.bg_color,
              image: order.background,
            }),
          );
        default:
          throw unsuitable('这个模型没有这样的操作');
      }
    },

    choices,

    async detect({ image, module, parameters }, signal) {
      const { controlTypes: types } = known ?? (await choices(signal));
      const kind = types.find(
        (each) => each.type.toLowerCase() === module.toLowerCase() || each.modules.includes(module),
      );
      if (!kind) throw unsuitable('画图服务没有这种构图控制，请换一种');
      const number = (name: string) =>
        parameters[name] === undefined ? {} : { [`controlnet_${name}`]: parameters[name] };
      const { images } = await call(
        'controlnet/detect',
        detected,
        signal,
        {
          controlnet_module: kind.modules.includes(module) ? module : kind.modules[0],
          controlnet_input_images: [image.toString('base64')],
          ...number('processor_res'),
          ...number('threshold_a'),
          ...number('threshold_b'),
        },
        { firstByteMs: 60_000, idleMs: 20_000, totalMs: 90_000 },
      );
      const data = fromBase64(images[0]);
      if (data === null || (await measure(data)) === null) throw senselessReply();
      return data;
    },

    async interrogate({ image, model }, signal) {
      const { caption } = await call(
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
