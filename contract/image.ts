import * as z from 'zod/mini';
import {
  always,
  call,
  chosen,
  flag,
  slowCall,
  id,
  listOf,
  page,
  text,
  time,
  wholeNumber,
  requestId,
} from './call.ts';
import { image as uploadedImage, madeBy } from './file.ts';
import { job } from './job.ts';
import { limits } from './limits.ts';

/** What the parameters of a model are like (document 2 §3); its tool shows those. */
export const imageFamily = z.enum([
  'built-in',
  'stable-diffusion',
  'sd3',
  'midjourney',
  'dalle',
  'openai',
  'cloud',
]);
export type ImageFamily = z.output<typeof imageFamily>;

/** What a model's engine can do. */
export const imageAbility = z.enum([
  'text-to-image',
  'image-to-image',
  'edit',
  'upscale',
  'interrogate',
  'remove-background',
  'edit-background',
  'controlnet',
  'negative-prompt',
  'seed',
  'lora',
  'references',
  'blend',
]);
export type ImageAbility = z.output<typeof imageAbility>;

/** What a model of images takes, so that the page asks for nothing else. */
export const imageModel = z.object({
  family: imageFamily,
  abilities: z.array(imageAbility),
  /** `WxH`; empty: any of `imageSizes`. The size limit list of document 2 §4. */
  sizes: z.array(z.string()),
  checkpoints: z.array(
    z.object({ name: z.string(), label: z.string(), factor: z.nullable(z.number()) }),
  ),
  default_checkpoint: z.string(),
  /** Images at once: usual and most. */
  default_count: z.int(),
  max_count: z.int(),
  /** Whether prompts are translated into English unless chosen otherwise. */
  default_translate: z.boolean(),
});
export type ImageModel = z.output<typeof imageModel>;

const slider = (min: number, max: number) => z.optional(wholeNumber(min, max));
const url = text(2000);

const coordinate = z.int().check(z.gte(0), z.lte(30_000));
const stroke = z.object({
  size: z.int().check(z.gte(1), z.lte(limits.brush.size)),
  /** It is the outline of an area: all within it counts, too. */
  area: z.optional(z.boolean()),
  /** Takes away what was painted before it. */
  erase: z.optional(z.boolean()),
  points: z
    .array(coordinate)
    .check(z.minLength(2), z.maxLength(limits.brush.points * 2))
    .check(z.refine((points) => points.length % 2 === 0)),
});
const brush = z
  .array(stroke)
  .check(z.minLength(1), z.maxLength(limits.brush.strokes))
  .check(
    z.refine(
      (strokes) =>
        strokes.reduce((sum, { points }) => sum + points.length / 2, 0) <= limits.brush.points,
    ),
  );

/** What an image is made with beside its words; each family reads its own. Document 2 §3, §5, §9. */
export const imageParameters = z.object({
  // Midjourney
  aspect: z.optional(text(12).check(z.regex(/^\d{1,4}(\.\d{1,3})?:\d{1,4}(\.\d{1,3})?$/))),
  version: z.optional(text(8)),
  is_niji: z.optional(z.boolean()),
  style: z.optional(text(60)),
  chaos: slider(0, 100),
  stylize: slider(0, 1000),
  stop: slider(10, 100),
  weird: slider(0, 3000),
  quality: z.optional(z.enum(['.25', '.5', '1'])),
  tile: z.optional(z.boolean()),
  no: z.optional(text(500)),
  cref: z.optional(z.array(z.object({ url })).check(z.maxLength(limits.styleReferences))),
  cw: slider(0, 100),
  sref: z.optional(
    z
      .array(z.object({ url }))
      .check(z.maxLength(limits.styleReferences, `图片数量不能大于${limits.styleReferences}张`)),
  ),
  sw: slider(0, 1000),
  random_style: z.optional(z.boolean()),
  /** Image weight, hundredths: 0 to 2 in Midjourney's own writing. */
  weight: slider(0, 200),
  style_version: slider(1, 4),
  repeat: slider(1, 10),
  // Stable Diffusion and 内置画板
  checkpoint: z.optional(text(200)),
  lora: z.optional(
    z.array(z.object({ key: text(200), weight: wholeNumber(1, 100) })).check(z.maxLength(10)),
  ),
  negative_prompt: z.optional(text(2000)),
  seed: z.optional(wholeNumber(0, 4_294_967_295)),
  steps: slider(1, 150),
  cfg_scale: slider(1, 30),
  sampler: z.optional(text(100)),
  // The cloud model
  logo_add: z.optional(z.boolean()),
  revise: z.optional(z.boolean()),
  // DALL-E
  hd: z.optional(z.boolean()),
  // What is done with an image that is there
  /** Of an upscale: 2 or 4 times, and the upscaler's name. */
  resize: z.optional(z.union([z.literal(2), z.literal(4)])),
  upscaler: z.optional(text(100)),
  /** Of an edit or an action that asks for a region: what is drawn anew, in pixels of the base. */
  mask: z.optional(
    z.object({
      left: wholeNumber(0, 30_000),
      top: wholeNumber(0, 30_000),
      width: wholeNumber(1, 30_000),
      height: wholeNumber(1, 30_000),
    }),
  ),
  /**
   * With a mask, what of it was painted over: lines as thick as `size` through points x, y, x, y …,
   * in pixels of the base. Nothing: all of it.
   */
  brush: z.optional(brush),
  /** What was not painted over is meant, within the mask. */
  brush_inverted: z.optional(z.boolean()),
  /** Of a background: a colour as #rrggbb, or the address of an image. */
  bg_color: z.optional(text(7).check(z.regex(/^#[0-9a-fA-F]{6}$/))),
  bg_image: z.optional(url),
  /** Of an action on a Midjourney job: the button's hash and what it is called. */
  action: z.optional(z.object({ hash: text(300), emoji: text(40), label: text(60) })),
  /** Of an action that asks for it: how far the view draws back, hundredths. */
  zoom: slider(100, 200),
  /** The images that are made into one. */
  blend: z.optional(z.array(z.object({ url })).check(z.maxLength(limits.blend.max))),
  /** Of a variation or an action: the image it starts from. */
  image_id: z.optional(id),
});
export type ImageParameters = z.output<typeof imageParameters>;

/** What can be asked for in a session of images; `type` of a structured message there. */
export const imageTask = z.enum([
  'txt2img',
  'img2img',
  'vary',
  'blend',
  'upscale',
  'edit',
  'remove-bg',
  'edit-bg',
  'action',
]);
export type ImageTask = z.output<typeof imageTask>;

/** Where an image comes from. */
export const imageOrigin = z.enum(['drawn', 'uploaded', 'edited', 'imported']);
export type ImageOrigin = z.output<typeof imageOrigin>;

/** How a base image is brought to the size asked for: stretch, crop, fill, upscale. */
export const resizeMode = wholeNumber(0, 3);

/** A button below a finished job, as a Midjourney service or this server offers it. */
export const imageAction = z.object({
  hash: z.string(),
  emoji: z.string(),
  /** In Chinese. */
  label: z.string(),
  /** What the person must say before: `parameters.mask` or `parameters.zoom`. */
  asks: z.optional(z.enum(['region', 'zoom'])),
});
export type ImageAction = z.output<typeof imageAction>;

/** One image of an answer; the JSON list of them is `ai` of a message of type 1. */
export const madeImage = z.object({
  /** 0 where there is none, because it failed. */
  id: z.int(),
  uuid: z.string(),
  /** Address below this server; `?size=` thumbnails as of uploads. Empty: failed or deleted. */
  url: z.string(),
  width: z.int(),
  height: z.int(),
  /** Null: the engine has none. */
  seed: z.nullable(z.int()),
  /** Why this one failed; empty: it did not. */
  error: z.string(),
});
export type MadeImage = z.output<typeof madeImage>;

/** What stands in `ai` of an answered message of images, as JSON. */
export const imageReply = z.object({
  images: z.array(madeImage),
  actions: z.array(imageAction),
  /** The words as the engine was given them, and as it changed them itself (`revised_prompt`). */
  prompt: z.string(),
  revised_prompt: z.string(),
  /** The service that answered, in words for people. */
  engine: z.string(),
  parameters: imageParameters,
  width: z.int(),
  height: z.int(),
  /** Things in the words that the engine knows it cannot draw; left out: it does not know. */
  unread: z.optional(z.array(z.string())),
});
export type ImageReply = z.output<typeof imageReply>;

/** The groups of keywords (document 2 §3): directory, then groups in it. */
export const keywordType = z.enum(['quality', 'composition', 'looks', 'effect', 'draw', 'command']);
export type KeywordType = z.output<typeof keywordType>;

/** An image as lists have it (document 2 §3). */
export const listedImage = z.object({
  id: z.int(),
  uuid: z.string(),
  /** Empty: it was deleted. */
  url: z.string(),
  /** `WxH`, pixels. */
  size: z.string(),
  user_id: z.int(),
  session_id: z.nullable(z.int()),
  liked_count: z.int(),
  disliked_count: z.int(),
  /** The asker's vote: 1, -1, 0 none. */
  like: z.int(),
  /** The same by its other name (document 2 §3). */
  isLiked: z.int(),
  model: z.string(),
  /** Why there is none; empty: there is. */
  error: z.string(),
  origin: imageOrigin,
  /** How it is known that a model made it; left out: nothing says so. */
  made: z.optional(madeBy),
  /** Its owner shows it to nobody. */
  hidden: z.boolean(),
  prompt: z.string(),
  created_at: time,
});
export type ListedImage = z.output<typeof listedImage>;

const sizeText = z.string().check(z.regex(/^\d{2,5}[x×*]\d{2,5}$/i, '应为 1024x576 这样的尺寸'));

/** A rectangle in pixels of the image, as a page drags it: parts of pixels are rounded. */
const side = (least: number) =>
  z.pipe(
    z.pipe(
      z.union([z.number(), z.string().check(z.regex(/^\d{1,6}(\.\d{1,20})?$/))]),
      z.transform((value) => Math.round(Number(value))),
    ),
    z.int().check(z.gte(least), z.lte(30_000)),
  );
const region = z.object({ left: side(0), top: side(0), width: side(1), height: side(1) });

/** What the calls that go on from an image take beside the specification's fields, all optional. */
const editing = {
  image_id: id,
  /** Number of the job, made by the client; the server makes one where it is left out. */
  request_id: z.optional(requestId),
  /** Which model of images does it; left out: the image's own where it can, else a free one. */
  painter: z.optional(text(100)),
};

/** What they answer: the images come with image/progress and in the lists once the job is done. */
const edited = z.object({ job, images: z.array(listedImage) });
const editCodes = [
  'model_unavailable',
  'login_required',
  'not_owner',
  'balance',
  'balance_excluded',
  'job_unsuitable',
  'too_many_jobs',
  'prompt_too_long',
  'prompt_too_short',
] as const;

export const imageCalls = {
  generateImage: call({
    method: 'POST',
    path: '/api/image/generate',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    summary: '为一条已发送的消息开始作画；结果写在消息里，进度由 image/progress 或 job_events 读',
    input: z.object({
      history_id: id,
      /** Number of the job, made by the client. */
      request_id: requestId,
      n: z.optional(wholeNumber(1, 10)),
      /** A code of `imageSizes`, or as models list them: `1024x576`. */
      size: z.optional(z.union([wholeNumber(0, 20), sizeText])),
      /** 1: the words are translated into English first; left out: as the message or the model says. */
      translate: z.optional(flag),
      /** Must be the session's where given. */
      model: chosen(100),
      translate_model: chosen(100),
      checkpoint: chosen(200),
      style: chosen(60),
      /** Beside or instead of those in the message. */
      parameters: z.optional(imageParameters),
    }),
    /** They come with the message and image/progress: the answer does not wait for them. */
    output: z.object({
      job,
      images: z.array(listedImage),
      /** What is drawn, `WxH`; left out where a request is repeated. */
      size: z.optional(z.string()),
      /** In words, where that is not the size that was asked for. */
      notice: z.optional(z.string()),
    }),
    codes: [
      'model_unavailable',
      'login_required',
      'balance',
      'session_busy',
      'session_unsuitable',
      'not_owner',
      'prompt_too_long',
      'prompt_too_short',
      'job_unsuitable',
      'too_many_jobs',
      'file_quota',
      'private_session',
      'session_deleted',
    ],
  }),
  imageProgress: call({
    method: 'GET',
    path: '/api/image/progress',
    access: 'guest',
    summary: '一次作画的进度。失败之后 code 大于 0，data 不变',
    input: z.object({ request_id: requestId }),
    output: z.object({
      /** As document 2 §7 has it: 0 to 1, and base64 of the image so far. */
      result: z.object({ progress: z.number(), current_image: z.string() }),
      progress: z.number(),
      /** Data URL of the image so far; empty: nothing yet. */
      current_image: z.string(),
      job,
      /** What it has made, once it is done. */
      images: z.array(listedImage),
    }),
    codes: [
      'balance',
      'balance_excluded',
      'engine_failed',
      'engine_timeout',
      'job_unsuitable',
      'prompt_banned',
    ],
  }),
  upscaleImage: call({
    method: 'POST',
    path: '/api/image/upscale',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    summary: '放大自己的一张图片：2 或 4 倍，model 是放大算法的名字',
    input: z.object({
      ...editing,
      model: z.optional(text(100)),
      resize: z._default(
        z.pipe(
          wholeNumber(2, 4),
          z.union([z.literal(2), z.literal(4)], { error: '只能放大 2 或 4 倍' }),
        ),
        2,
      ),
    }),
    output: edited,
    codes: editCodes,
  }),
  removeImageBackground: call({
    method: 'POST',
    path: '/api/image/removeBg',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    summary: '去掉自己的一张图片的背景',
    input: z.object(editing),
    output: edited,
    codes: editCodes,
  }),
  editImageBackground: call({
    method: 'POST',
    path: '/api/image/editBg',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    summary: '换掉自己的一张图片的背景：颜色或图片；有 mask 时只换其中的',
    input: z.object({
      ...editing,
      /** The dialog's mode; tells nothing more. */
      method: z.optional(text(40)),
      mask: z.optional(z.nullable(region)),
      bg_color: z.optional(text(7)),
      bg_image: z.optional(url),
    }),
    output: edited,
    codes: editCodes,
  }),
  editImage: call({
    method: 'POST',
    path: '/api/image/edit',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    summary: '按提示重绘自己的一张图片：mask 里的（edit），或整张的变体（variations）',
    input: z.object({
      ...editing,
      /** variations: all of it, by the words or as it is; anything else: what the mask holds. */
      method: z.optional(text(40)),
      prompt: z._default(text(65_535), ''),
      mask: z.optional(z.nullable(region)),
      brush: z.optional(brush),
      brush_inverted: z.optional(z.boolean()),
      /** Of variations: how much is changed, percent. */
      strength: z.optional(wholeNumber(1, 100)),
      n: z.optional(wholeNumber(1, limits.imageCount.most)),
    }),
    output: edited,
    codes: editCodes,
  }),
  imageMetadata: call({
    method: 'GET',
    path: '/api/image/metadata',
    access: 'public',
    summary: '一个模型有哪些底模、LoRA、风格、采样器、放大器与构图控制',
    input: z.object({ model: text(100) }),
    output: z.object({
      checkpoints: z.array(z.object({ name: z.string(), label: z.string() })),
      default_checkpoint: z.string(),
      loras: z.array(z.object({ key: z.string(), label: z.string() })),
      styles: z.array(z.object({ name: z.string(), label: z.string() })),
      samplers: z.array(z.string()),
      upscalers: z.array(z.string()),
      /** All modules of all types. */
      controlnetModules: z.array(z.string()),
      controlnetTypes: z.array(
        z.object({
          type: z.string(),
          /** Chinese. */
          label: z.string(),
          modules: z.array(z.string()),
          models: z.array(z.string()),
        }),
      ),
    }),
    codes: ['model_unavailable', 'paid_only'],
  }),
  promptParameter: call({
    method: 'POST',
    path: '/api/image/prompt_parameter',
    access: 'guest',
    summary: '提示词与参数合起来会怎样发给模型（预览）',
    input: z.object({
      model: text(100),
      prompt: text(65_535),
      parameters: z.optional(imageParameters),
    }),
    output: z.object({ result: z.string() }),
    codes: ['model_unavailable'],
  }),
  controlnetDetect: call({
    method: 'POST',
    path: '/api/image/controlnet_detect',
    access: 'guest',
    countsForGuests: always,
    summary: '预览构图控制：从图片里取出线条、深度等',
    input: z.object({
      model: text(100),
      controlnet_module: text(100),
      controlnet_image_url: url,
      controlnet_model: z._default(text(200), ''),
      controlnet_parameters: z.optional(z.record(z.string().check(z.maxLength(60)), z.number())),
    }),
    output: z.object({ image_base64: z.string() }),
    codes: [
      'model_unavailable',
      'address_unreachable',
      'job_unsuitable',
      'engine_failed',
      'login_required',
    ],
  }),
  interrogateImage: call({
    method: 'POST',
    path: '/api/image/interrogate',
    access: 'guest',
    idempotent: true,
    claimsKey: true,
    countsForGuests: always,
    summary: '从图片反推提示词',
    input: z.object({
      image_id: z.optional(id),
      image_url: z.optional(url),
      /** clip, DeepBooru, or a model of images by its name. */
      model: z._default(text(100), 'clip'),
      /** 1: a chat model says it in Chinese where the service does not, at its price. */
      chinese: z._default(flag, 1),
    }),
    output: z.object({
      result: z.string(),
      result_cn: z.string(),
      /** Who looked, in words for people; whether the Chinese was translated by a chat model. */
      engine: z.string(),
      translated: z.boolean(),
    }),
    codes: [
      'model_unavailable',
      'address_unreachable',
      'job_unsuitable',
      'engine_failed',
      'login_required',
    ],
  }),
  croppingImage: slowCall({
    method: 'POST',
    path: '/api/image/cropping_image',
    access: 'guest',
    idempotent: true,
    maxBytes: 6 * 1024 * 1024,
    summary: '上传裁剪好的图片（data URL）',
    input: z.object({ image: text(6 * 1024 * 1024) }),
    output: z.object({ image: uploadedImage }),
    codes: ['upload_type', 'upload_unreadable', 'file_quota'],
  }),
  uploadedFiles: call({
    method: 'GET',
    path: '/api/image/uploaded_files',
    access: 'guest',
    summary: '自己上传的图片，新的在前，每页 32 张',
    input: z.object({ page }),
    output: z.object(listOf(listedImage)),
  }),
  privateImages: call({
    method: 'GET',
    path: '/api/image/private_all',
    access: 'guest',
    summary: '自己画的图片，新的在前，每页 32 张',
    input: z.object({ page }),
    output: z.object(listOf(listedImage)),
  }),
  translate: call({
    method: 'POST',
    path: '/api/translate',
    access: 'guest',
    idempotent: true,
    claimsKey: true,
    countsForGuests: always,
    summary: '翻译一段文字。没有连接模型时原样返回，translated 为 false',
    input: z.object({
      msg: text(20_000),
      /** 1: into English; 0: into Chinese. */
      cn2en: z._default(flag, 1),
      model: chosen(100),
    }),
    output: z.object({ result: z.string(), translated: z.boolean() }),
    codes: ['login_required', 'balance', 'model_unavailable', 'paid_only', 'engine_failed'],
  }),
  inscriptor: call({
    method: 'POST',
    path: '/api/inscriptor',
    access: 'guest',
    idempotent: true,
    claimsKey: true,
    countsForGuests: always,
    summary: '把一句话扩写成画图提示词。没有连接模型时由内置词库补充，library 为 true',
    input: z.object({ msg: text(20_000) }),
    output: z.object({ result: z.string(), library: z.boolean() }),
    codes: ['login_required', 'balance', 'model_unavailable', 'paid_only', 'engine_failed'],
  }),
  keywordList: call({
    method: 'GET',
    path: '/api/keyword_list',
    access: 'public',
    summary: '画图关键词库：置顶的在前，隐藏的也在（hidden）',
    input: z.object({ type: z.optional(keywordType) }),
    output: z.object({
      keywords: z.array(
        z.object({
          id: z.int(),
          text: z.string(),
          lang_zh: z.string(),
          sub_type: z.string(),
          dir: z.string(),
          sub_dir: z.string(),
          sort: z.int(),
          top: z.boolean(),
          hidden: z.boolean(),
        }),
      ),
    }),
  }),
  topKeyword: call({
    method: 'POST',
    path: '/api/top_keyword',
    access: 'guest',
    summary: '置顶一个关键词，再次取消',
    input: z.object({ id, type: keywordType }),
    output: z.object({ set: z.boolean() }),
  }),
  hideKeyword: call({
    method: 'POST',
    path: '/api/hide_keyword',
    access: 'guest',
    summary: '隐藏一个关键词，再次取消',
    input: z.object({ id, type: keywordType }),
    output: z.object({ set: z.boolean() }),
  }),
};
