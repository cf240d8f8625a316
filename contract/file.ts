import * as z from 'zod/mini';
import { call, flag, slowCall, text, upload, uuid, wholeNumber } from './call.ts';
import { limits } from './limits.ts';
import { marketLimits } from './market-limits.ts';

const ticket = z.optional(text(100));
/** Bytes that are here. */
const received = z.int();

/** How it is known that a model made an image: by its file, by whoever brought it, by traces of other makers. */
export const madeBy = z.enum(['generated', 'declared', 'suspected']);
export type MadeBy = z.output<typeof madeBy>;

export const image = z.object({
  /** Its number: what every other call takes as `image_id`. */
  id: z.int(),
  uuid: z.string(),
  /** Address of the image below this server; `?size=128`, 180, 320 and 640 give thumbnails. */
  url: z.string(),
  width: z.int(),
  height: z.int(),
  /** `WxH`, as of every image (document 2 §3). */
  size: z.string(),
  bytes: z.int(),
  /** Left out: nothing says that a model made it. */
  made: z.optional(madeBy),
});
export type UploadedImage = z.output<typeof image>;

export const attachedFile = z.object({
  uuid: z.string(),
  name: z.string(),
  mime: z.string(),
  /** Bytes. */
  size: z.int(),
  /** Characters of its text, and whether the rest of a longer text was left out. */
  chars: z.int(),
  /** As many tokens does its text take. */
  tokens: z.optional(z.int()),
  cut: z.boolean(),
});
export type AttachedFile = z.output<typeof attachedFile>;

export const fileCalls = {
  uploadImage: upload({
    path: '/api/image/upload',
    access: 'guest',
    idempotent: true,
    summary: '上传一张图片（jpg 或 png，至多 4 MB）；重新编码，去掉元数据',
    maxBytes: limits.imageBytes,
    input: z.object({
      ticket,
      /** 1: whoever brings it says that a model made it. */
      declared: z.optional(flag),
    }),
    output: z.object({ image }),
    codes: ['upload_type', 'upload_unreadable', 'file_quota'],
  }),
  imageByUrl: slowCall({
    method: 'POST',
    path: '/api/image/by_url',
    access: 'guest',
    idempotent: true,
    summary: '取一张公开可访问的图片，与上传一样保存',
    input: z.object({ url: text(2000) }),
    output: z.object({ image }),
    codes: ['address_unreachable', 'file_quota'],
  }),
  foreignImage: call({
    method: 'POST',
    path: '/api/foreign_image',
    access: 'public',
    summary: '代取一张别处的图片来看：重新编码为 WebP 的 data URL，不保存；每人每分钟 30 张',
    input: z.object({ url: text(2000) }),
    output: z.object({
      image: z.string(),
      width: z.int(),
      height: z.int(),
      /** Bytes where it comes from. */
      size: z.int(),
    }),
    codes: ['address_unreachable'],
    effect: 'none',
  }),
  imageOrigins: call({
    method: 'GET',
    path: '/api/image/origins',
    access: 'public',
    forDisabled: true,
    summary: '这些图片里哪些是模型生成的、上传的人声明是、或疑似是；地址就是凭据',
    input: z.object({
      /** Addresses below /files/, separated by commas; at most 60. */
      urls: text(6000),
    }),
    output: z.object({ list: z.array(z.object({ url: z.string(), made: madeBy })) }),
  }),
  declareImage: call({
    method: 'POST',
    path: '/api/image/declare',
    access: 'guest',
    summary: '声明自己上传的一张图片由人工智能生成；写进文件，不能撤回',
    input: z.object({ url: text(200) }),
    output: z.object({ made: madeBy }),
  }),
  attachedText: call({
    method: 'GET',
    path: '/api/attached_text',
    access: 'guest',
    summary: '自己上传的一个文件里的文字',
    input: z.object({ uuid: z.uuid() }),
    output: z.object({
      name: z.string(),
      text: z.string(),
      /** The rest of a longer text was left out. */
      cut: z.boolean(),
    }),
  }),
  uploadFile: upload({
    path: '/api/upload_file',
    access: 'guest',
    idempotent: true,
    summary:
      '上传一个文件，取出其中的文字（txt、md、csv、json、代码、pdf、docx、doc、xlsx、pptx、epub；扫描的 PDF 认出前 10 页上的文字）',
    maxBytes: limits.fileBytes,
    input: z.object({ ticket }),
    output: z.object({ file: attachedFile }),
    codes: ['upload_type', 'upload_unreadable', 'file_quota'],
  }),
  uploadPiece: upload({
    path: '/api/upload_piece',
    access: 'guest',
    summary:
      '上传文件的一段。upload_id 由上传者自己取，各段接着传，断了从 received 接着传；传完之后，任何上传都可以让 file 留空，在它前面的字段 file_upload 里说这个 upload_id',
    maxBytes: limits.pieces.most,
    input: z.object({
      ticket,
      upload_id: uuid,
      /** Bytes before this piece, and of the whole file. */
      offset: wholeNumber(0, marketLimits.fileBytes),
      size: wholeNumber(1, marketLimits.fileBytes),
    }),
    output: z.object({ received }),
    codes: ['too_many_jobs', 'file_quota'],
  }),
  uploadState: call({
    method: 'GET',
    path: '/api/upload_state',
    access: 'guest',
    summary: '自己一段一段上传的文件到了多少',
    input: z.object({ upload_id: uuid }),
    output: z.object({ received }),
  }),
};
