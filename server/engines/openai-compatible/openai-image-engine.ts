import pLimit from 'p-limit';
import { type Dispatcher, FormData } from 'undici';
import * as z from 'zod/mini';
import type { ImageAbility, ImageFamily, ImageModel } from '#contract/image.ts';
import { closestSize } from '#contract/image-size.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import {
  type ImageEngine,
  ImageEngineError,
  type ImageIo,
  type ImageOrder,
  type ImageResult,
  type EngineImage,
  noChoices,
} from '../image-engine.ts';
import {
  ask,
  jsonOf,
  mostBytes,
  refusedBy,
  senselessReply,
  unsuitable,
  workPatience,
} from '../image-wire.ts';
import {
  createImageFetch,
  dataUrl,
  drawMask,
  exactly,
  frameFor,
  fromBase64,
  made,
  measure,
  putInFrame,
  takenFromFrame,
  type Framed,
} from '../image-pixels.ts';
import { type Silence, usualSilence } from '../silence.ts';
import { apiUrl } from './address.ts';
import { isContentFault, isMoneyFault, readFault, type UpstreamFault } from './upstream-error.ts';

export interface OpenAiImageOptions {
  /** Such as `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Empty: none is sent. */
  apiKey: string;
  /** Added to each request; the key counts more. */
  headers?: Record<string, string>;
  /** Left out: straight to the service. */
  dispatcher?: Dispatcher;
  fetch: GuardedFetch;
  /** What a model of this name takes. */
  silence?: Silence;
  imageOf: (model: string) => Pick<ImageModel, 'family' | 'abilities' | 'sizes'> | null;
}

/** Fields that some services or models refuse and that a request can do without. */
const optional: ReadonlySet<string> = new Set([
  'response_format',
  'output_format',
  'quality',
  'style',
  'negative_prompt',
  'seed',
  'watermark',
  'prompt_extend',
  'strength',
]);

const answer = z.looseObject({
  data: z.optional(z.nullable(z.array(z.unknown()))),
  /** SiliconFlow's name of it. */
  images: z.optional(z.nullable(z.array(z.unknown()))),
  seed: z.nullish(z.int()),
});
const image = z.looseObject({
  b64_json: z.nullish(z.string()),
  url: z.nullish(z.string()),
  revised_prompt: z.nullish(z.string()),
});

/** Requests at once for one work, of models that make one image at a time. */
const atOnce = 3;

type Fields = Record<string, string | number | boolean>;

/** The model makes one image a request, whatever is asked for. */
const oneAtATime = (model: string, family: ImageFamily): boolean =>
  /dall-?e-?3/i.test(model) || family === 'cloud' || family === 'sd3';

/** Its order alone: of a fixed seed each has the next, or all of them would be the same image. */
const nth = (order: ImageOrder, at: number): ImageOrder => {
  const { seed } = order.parameters;
  if (seed === undefined || at === 0) return order;
  return { ...order, parameters: { ...order.parameters, seed: (seed + at) % 2 ** 32 } };
};

/** The size to ask for: the nearest of those that the model makes, where they are known. */
const sizeOf = (sizes: readonly string[], { width, height }: ImageOrder): string => {
  const known = sizes.map((size) => {
    const [wide = 0, high = 0] = size.split('x').map(Number);
    return { width: wide, height: high };
  });
  const nearest = closestSize(known, width, height) ?? { width, height };
  return `${nearest.width}x${nearest.height}`;
};

const fieldsOf = (order: ImageOrder, family: ImageFamily): Fields => {
  const { parameters: chosen } = order;
  const set: Fields = {};
  switch (family) {
    case 'dalle':
      set['response_format'] = 'b64_json';
      if (/dall-?e-?3/i.test(order.model)) {
        set['quality'] = chosen.hd ? 'hd' : 'standard';
        set['style'] = chosen.style === 'natural' ? 'natural' : 'vivid';
      }
      break;
    case 'openai':
      // Unasked the service chooses by itself, and what it makes costs what it likes.
      set['quality'] = chosen.hd ? 'high' : 'medium';
      break;
    case 'cloud':
      if (chosen.style) set['style'] = chosen.style;
      if (chosen.logo_add !== undefined) set['watermark'] = chosen.logo_add;
      if (chosen.revise !== undefined) set['prompt_extend'] = chosen.revise;
      break;
    case 'sd3':
      if (order.base !== null) {
        // Services of Stable Diffusion take the base image among the words' fields.
        set['image'] = dataUrl(order.base);
        set['strength'] = Math.min(1, Math.max(0.01, order.strength / 100));
      }
      break;
    case 'stable-diffusion':
    case 'midjourney':
    case 'built-in':
  }
  if (chosen.negative_prompt) set['negative_prompt'] = chosen.negative_prompt;
  if (chosen.seed !== undefined) set['seed'] = chosen.seed;
  return set;
};

const faultError = (fault: UpstreamFault): ImageEngineError => {
  if (isContentFault(fault))
    return new ImageEngineError(
      'prompt_banned',
      '提示词或图片不合画图服务的内容规则，没有扣费，请修改后再试',
      {
        retriable: false,
        askerAtFault: true,
      },
    );
  if (isMoneyFault(fault)) return refusedBy(402);
  return refusedBy(fault.status);
};

/** Images of one request or several, and the prompt as the service rewrote it. */
interface Answered {
  images: EngineImage[];
  revised: string;
}

/** The images of an answer, fetched where it names addresses. @throws ImageEngineError */
const readAnswer = async (
  fetchImage: ReturnType<typeof createImageFetch>,
  said: unknown,
  n: number,
  signal: AbortSignal,
): Promise<Answered> => {
  const parsed = answer.safeParse(said);
  if (!parsed.success) throw senselessReply(parsed.error);
  const { data, images: listed, seed } = parsed.data;
  const list = (data ?? listed ?? []).slice(0, n);
  let revised = '';
  const images = await Promise.all(
    list.map(async (each) => {
      const one = image.safeParse(each);
      if (!one.success) return made(null, null);
      const { b64_json: inline, url, revised_prompt: words } = one.data;
      revised ||= (words ?? '').slice(0, 4000);
      return made(
        inline ? fromBase64(inline) : url ? await fetchImage(url, signal) : null,
        seed ?? null,
      );
    }),
  );
  return { images, revised };
};

/** Images of a model that makes one at a time: as many requests, of which some may fail. */
const apart = async (
  order: ImageOrder,
  io: ImageIo,
  request: (order: ImageOrder) => Promise<Answered>,
): Promise<Answered> => {
  const limit = pLimit(atOnce);
  const failures: unknown[] = [];
  let delivered = 0;
  let revised = '';
  const one = async (at: number): Promise<EngineImage> => {
    if (io.stopped.aborted) return { data: null, error: '已停止，这一张没有画', seed: null };
    // One that was refused for good is refused again.
    const [first] = failures;
    if (first instanceof ImageEngineError && !first.retriable)
      return { data: null, error: first.message, seed: null };
    try {
      const answered = await request(nth(order, at));
      const single = exactly(answered.images, 1)[0]!;
      revised ||= answered.revised;
      delivered += 1;
      io.progress(delivered / order.n);
      return single;
    } catch (error) {
      io.signal.throwIfAborted();
      failures.push(error);
      const message = error instanceof ImageEngineError ? error.message : '这一张生成失败';
      return { data: null, error: message, seed: null };
    }
  };
  const images = await Promise.all(Array.from({ length: order.n }, (_, at) => limit(one, at)));
  if (failures.length > 0 && images.every(({ data }) => data === null)) throw failures[0];
  return { images, revised };
};

/** Any service that speaks OpenAI's images: generations, and edits where the model has them. */
export const createOpenAiImageEngine = (options: OpenAiImageOptions): ImageEngine => {
  const headers: Record<string, string> = {
    ...options.headers,
    ...(options.apiKey === '' ? {} : { authorization: `Bearer ${options.apiKey}` }),
  };
  const { firstMs } = options.silence ?? usualSilence;
  const fetchImage = createImageFetch(
    new URL(options.baseUrl),
    options.fetch,
    headers,
    options.dispatcher,
  );
  /** Fields that the service refused for a model, so that later requests do without at once. */
  const refused = new Map<string, Set<string>>();

  /** @throws ImageEngineError */
  const send = async (
    call: 'generations' | 'edits',
    body: { json: Fields } | { form: () => FormData },
    io: Pick<ImageIo, 'signal' | 'sent'>,
  ): Promise<unknown> => {
    const over = io.sent();
    try {
      return await asked(call, body, io.signal);
    } catch (error) {
      over();
      throw error;
    }
  };

  const asked = async (
    call: 'generations' | 'edits',
    body: { json: Fields } | { form: () => FormData },
    signal: AbortSignal,
  ): Promise<unknown> => {
    const reply = await ask(apiUrl(options.baseUrl, `images/${call}`), {
      method: 'POST',
      headers,
      signal,
      dispatcher: options.dispatcher,
      patience: { ...workPatience, firstByteMs: firstMs },
      maxBytes: mostBytes.images,
      ...('json' in body ? { json: body.json } : { form: body.form() }),
    });
    const said = jsonOf(reply.body);
    if (reply.status !== 200) throw new RefusedOrder(readFault(reply.status, said));
    if (said === null) throw senselessReply();
    // Some say no in an answer that says yes by its status.
    if (isRefusal(said)) throw new RefusedOrder(readFault(500, said));
    return said;
  };

  /** Images of one request, each looked at; as many as came. */
  const request = async (
    order: ImageOrder,
    n: number,
    size: string,
    io: ImageIo,
  ): Promise<Answered> => {
    const family = options.imageOf(order.model)?.family ?? 'openai';
    const without = new Set(refused.get(order.model));
    const plain: Fields = { model: order.model, prompt: order.prompt, n, size };
    const frame = await frameOf(order, size);
    for (;;) {
      const extra = Object.entries(fieldsOf(order, family)).filter(([name]) => !without.has(name));
      const fields: Fields = { ...plain, ...Object.fromEntries(extra) };
      try {
        const said =
          order.base === null || family === 'sd3'
            ? await send('generations', { json: fields }, io)
            : await send('edits', { form: await formOf(order, fields, frame) }, io);
        if (without.size > 0) refused.set(order.model, without);
        const answered = await readAnswer(fetchImage, said, n, io.signal);
        return frame ? { ...answered, images: await unframed(answered.images, frame) } : answered;
      } catch (error) {
        if (!(error instanceof RefusedOrder)) throw error;
        const field = fieldToDrop(error.fault, Object.keys(fields));
        if (field === null) throw faultError(error.fault);
        for (const name of field) without.add(name);
      }
    }
  };

  const generate = async (order: ImageOrder, io: ImageIo): Promise<ImageResult> => {
    const known = options.imageOf(order.model);
    const size = sizeOf(known?.sizes ?? [], order);
    const { images, revised } =
      order.n === 1 || !oneAtATime(order.model, known?.family ?? 'openai')
        ? await request(order, order.n, size, io)
        : await apart(order, io, (each) => request(each, 1, size, io));
    return {
      images: exactly(images, order.n),
      actions: [],
      revisedPrompt: revised,
      remote: null,
    };
  };

  const abilities: readonly ImageAbility[] = [
    'text-to-image',
    'image-to-image',
    'edit',
    'negative-prompt',
    'seed',
  ];

  return {
    abilities,
    concurrency: 6,

    async run(order, io) {
      const can = options.imageOf(order.model)?.abilities ?? ['text-to-image'];
      if (order.task !== 'generate' && order.task !== 'edit')
        throw unsuitable('这个模型不能这样修改图片');
      if (order.task === 'edit' && order.base === null) throw unsuitable('请先选择要修改的图片');
      const needed: ImageAbility =
        order.task === 'edit' ? 'edit' : order.base === null ? 'text-to-image' : 'image-to-image';
      if (!can.includes(needed)) throw unsuitable('这个模型不能这样修改图片');
      return generate(order, io);
    },

    choices: () => Promise.resolve(noChoices),

    detect: () => Promise.reject(unsuitable('这个模型没有构图控制')),
    interrogate: () => Promise.reject(unsuitable('这个模型不能从图片反推提示词')),
  };
};

/** The service said no before it made anything: another form of the request may be accepted. */
class RefusedOrder extends Error {
  readonly fault: UpstreamFault;
  constructor(fault: UpstreamFault) {
    super(`the service answered ${fault.status}`);
    this.fault = fault;
  }
}

const isRefusal = (said: unknown): boolean =>
  typeof said === 'object' &&
  said !== null &&
  !('data' in said || 'images' in said) &&
  ('error' in said || 'code' in said);

/** What to leave out after a refusal; null: the refusal has another reason. */
const fieldToDrop = (fault: UpstreamFault, sent: readonly string[]): string[] | null => {
  if ((fault.status !== 400 && fault.status !== 422) || isContentFault(fault)) return null;
  const named = fault.param.split('.')[0] ?? '';
  if (named !== '') return optional.has(named) && sent.includes(named) ? [named] : null;
  // Services that do not say which get the least that there is, once.
  const spare = sent.filter((name) => optional.has(name));
  return spare.length > 0 ? spare : null;
};

/**
 * Where the image of an edit lies in the size that the service makes, so that nothing of it is
 * stretched or lost on the way; null: it is asked for as it is.
 */
const frameOf = async (order: ImageOrder, size: string): Promise<Framed | null> => {
  if (order.task !== 'edit' || !order.base) return null;
  const own = await measure(order.base);
  const [width = 0, height = 0] = size.split('x').map(Number);
  if (!own || !(width > 0) || !(height > 0)) return null;
  return own.width === width && own.height === height ? null : frameFor(own, { width, height });
};

const unframed = (images: readonly EngineImage[], frame: Framed): Promise<EngineImage[]> =>
  Promise.all(
    images.map(async (image) =>
      image.data ? { ...image, data: await takenFromFrame(image.data, frame) } : image,
    ),
  );

/** A request with images in it: the base image, and what of it is drawn anew as a hole. */
const formOf = async (
  order: ImageOrder,
  fields: Fields,
  frame: Framed | null,
): Promise<() => FormData> => {
  const { base } = order;
  const { mask: part, brush, brush_inverted } = order.parameters;
  const size = base && (await measure(base));
  if (!base || !size) throw unsuitable('请先选择要修改的图片');
  const whole =
    order.task === 'edit' && part
      ? await drawMask(size, { mask: part, brush, brush_inverted }, 'hole')
      : null;
  const mask = whole && frame ? await putInFrame(whole, frame, 'white') : whole;
  const sent = frame ? await putInFrame(base, frame, 'mirror') : base;
  const png = sent[0] !== 0xff;
  return () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
    const type = png ? 'image/png' : 'image/jpeg';
    form.set('image', new Blob([new Uint8Array(sent)], { type }), png ? 'image.png' : 'image.jpg');
    if (mask) form.set('mask', new Blob([new Uint8Array(mask)], { type: 'image/png' }), 'mask.png');
    return form;
  };
};
