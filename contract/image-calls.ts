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
  wholeNumber,
  requestId,
} from './call.ts';
import { image as uploadedImage } from './file.ts';
import { brush, imageParameters, imageUrl, keywordType, listedImage } from './image.ts';
import { job } from './job.ts';
import { limits } from './limits.ts';

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
    summary: '高清放大自己的一张图片：2 或 4 倍，model 是放大算法的名字',
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
      bg_image: z.optional(imageUrl),
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
    summary: '按提示重绘自己的一张图片：mask 里的（edit），或照整张再来几张（variations）',
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
      controlnet_image_url: imageUrl,
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
      image_url: z.optional(imageUrl),
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
