import * as z from 'zod/mini';
import {
  call,
  download,
  flag,
  id,
  listOf,
  page,
  slowCall,
  text,
  time,
  upload,
  wholeNumber,
  personName,
  many,
} from './call.ts';
import { job } from './job.ts';
import { trainLimits, trainTexts } from './train-limits.ts';

/** Empty it is refused, as what was not filled in. */
const projectKey = z
  .string()
  .check(
    z.trim(),
    z.maxLength(trainLimits.key, 'Key 最多 64 个字符'),
    z.regex(/^\w*$/, 'Key 只能用英文字母、数字和下划线'),
  );
export const projectName = z
  .string()
  .check(
    z.trim(),
    z.minLength(1, trainTexts.name),
    z.maxLength(trainLimits.name, '模型名称最多 60 个字符'),
  );

export const loraImage = z.object({ url: text(2000), txt: z._default(text(1000), '') });

const term = z.object({ source: text(100), target: text(100) });

/** What is set of a project; which of it counts depends on its type. */
export const projectSettings = z.object({
  // Knowledge bases.
  separator: z._default(text(20), ''),
  chunk_size: z._default(
    wholeNumber(trainLimits.chunk.min, trainLimits.chunk.max),
    trainLimits.chunk.default,
  ),
  model: z._default(text(100), ''),
  /** What its owner asks of answers. */
  instruction: z._default(text(trainLimits.instruction), ''),
  /** Questions to begin with. */
  questions: z._default(
    z.array(text(trainLimits.question)).check(z.maxLength(trainLimits.questions)),
    [],
  ),
  // Styles of images.
  desc: z._default(text(trainLimits.description), ''),
  checkpoint: z._default(text(200), ''),
  batch_size: z._default(
    wholeNumber(trainLimits.batch.min, trainLimits.batch.max),
    trainLimits.batch.default,
  ),
  epoch: z._default(
    wholeNumber(trainLimits.epoch.min, trainLimits.epoch.max),
    trainLimits.epoch.default,
  ),
  /** SD-1.5 or SD-XL of a style; 1 English to Chinese, 2 Chinese to English of a translation. */
  type: z._default(
    z.union([z.enum(['SD-1.5', 'SD-XL', '1', '2']), z.literal(1), z.literal(2)]),
    'SD-1.5',
  ),
  images: z._default(z.array(loraImage).check(z.maxLength(trainLimits.loraImages)), []),
  // Translations.
  glossary: z._default(z.array(term).check(z.maxLength(trainLimits.glossary)), []),
  /** The original stands above each paragraph. */
  bilingual: z._default(z.boolean(), false),
  /** A chat model by its name; empty: the cheapest that is connected. */
  chat_model: z._default(text(100), ''),
});
export type ProjectSettings = z.output<typeof projectSettings>;

/** As JSON, or as the text of it. */
const settingsField = z._default(
  z.union([z.string().check(z.maxLength(400_000)), z.record(z.string(), z.unknown())]),
  {},
);

export const trainFile = z.object({
  id: z.int(),
  name: z.string(),
  /** Where the file itself is. */
  url: z.string(),
  token: z.int(),
  /** 0 in progress, 1 success, 2 failed, 3 decompressed. */
  status: z.int(),
  created_at: time,
  updated_at: time,
  size: z.int(),
  /** The archive that it came out of; 0: none. */
  parent_id: z.int(),
  /** Passages or sentences, and how many of them are done. */
  total_num: z.int(),
  over_num: z.int(),
  /** Why it failed; empty: it did not. */
  error: z.string(),
  /** It failed, and may succeed when it is tried again. */
  retriable: z.boolean(),
  /** Its owner has not begun it yet. */
  waiting: z.boolean(),
  /** Where its translation is; empty: there is none. */
  output_url: z.string(),
});
export type TrainFile = z.output<typeof trainFile>;

export const trainModel = z.object({
  id: z.int(),
  name: z.string(),
  key: z.string(),
  private: z.int(),
  type: z.int(),
  desc: z.string(),
  /** JSON as text. */
  settings: z.string(),
  /** 0 in training or not trained yet, 1 trained, 2 failed, 3 packed. */
  status: z.int(),
  token: z.int(),
  total_num: z.int(),
  over_num: z.int(),
  title: z.string(),
  user_id: z.int(),
  user: z.object({ user_name: personName }),
  created_at: time,
  updated_at: time,
  /** Its newest training file; null: it has none. */
  file: z.nullable(z.object({ name: z.string(), url: z.string() })),
  /** It is one's own. */
  mine: z.boolean(),
  /** Files of it that failed, and that its owner has not begun yet. */
  failed_num: z.int(),
  waiting_num: z.int(),
  /** What trains it: a service's name; empty: what is built in. */
  engine: z.string(),
  /** The work on it that has not ended. */
  job: z.nullable(job),
});
export type TrainModel = z.output<typeof trainModel>;

export const trainLogLine = z.object({ id: z.int(), content: z.string(), created_at: time });

export const segment = z.object({
  id: z.int(),
  source: z.string(),
  target: z.string(),
  /** 0 to do, 1 translated, 2 corrected by hand, 3 kept as it is. */
  state: z.int(),
});

const ticket = z.optional(text(100));
const listInput = z.object({
  page,
  /** 1: open ones of everybody; 0: one's own. */
  public: z._default(flag, 0),
  query: z.optional(text(100)),
});
const list = z.object(listOf(trainModel));

export const trainCalls = {
  trainModelList: call({
    method: 'GET',
    path: '/api/train/model_list',
    access: 'public',
    summary: '知识库与画风模型：公开的，或自己的',
    input: z.extend(listInput, { type: z.optional(wholeNumber(0, 1)) }),
    output: list,
  }),
  translateModelList: call({
    method: 'GET',
    path: '/api/train/translate_model',
    access: 'public',
    summary: '翻译项目：公开的，或自己的',
    input: listInput,
    output: list,
  }),
  trainModel: call({
    method: 'GET',
    path: '/api/train/model',
    access: 'public',
    summary: '一个项目',
    input: z.object({ model_id: id }),
    output: z.object({ model: trainModel }),
  }),
  trainEngines: call({
    method: 'GET',
    path: '/api/train/engines',
    access: 'public',
    summary: '训练与翻译各由什么来做',
    input: z.object({}),
    output: z.object({
      /** Models that embed texts; empty: the built-in way alone. */
      embedding: z.array(z.string()),
      /** Name of the service that trains styles; empty: the built-in statistics. */
      lora: z.string(),
      /** Chat models that translate; empty: texts stay as they are. */
      translate: z.array(z.object({ name: z.string(), label: z.string(), factor: z.number() })),
    }),
  }),
  newTrainModel: call({
    method: 'POST',
    path: '/api/train/new_model',
    access: 'user',
    idempotent: true,
    summary: '新建项目：0 知识库，1 画风，2 翻译',
    input: z.object({
      name: projectName,
      /** Left out: it is made from the name. */
      key: z.optional(projectKey),
      type: wholeNumber(0, 2),
      private: z._default(flag, 1),
      desc: z._default(
        z.string().check(z.maxLength(trainLimits.description, '描述最多 255 个字符')),
        '',
      ),
      settings: settingsField,
    }),
    output: z.object({ model: trainModel }),
    codes: ['training_key_taken', 'training_too_many'],
  }),
  setTrainModel: call({
    method: 'POST',
    path: '/api/train/set_model',
    access: 'user',
    summary: '公开或设为私有；可同时修改名称、描述与设置',
    input: z.object({
      model_id: id,
      private: z.optional(flag),
      name: z.optional(projectName),
      desc: z.optional(text(trainLimits.description)),
      settings: z.optional(
        z.union([z.string().check(z.maxLength(400_000)), z.record(z.string(), z.unknown())]),
      ),
    }),
    output: z.object({ model: trainModel }),
  }),
  setLoraImages: call({
    method: 'POST',
    path: '/api/train/set_lora_images',
    access: 'user',
    summary: '画风的图片与说明；默认随即开始训练',
    input: z.object({
      model_id: id,
      images: z.union([
        z.array(loraImage).check(z.maxLength(trainLimits.loraImages)),
        z.string().check(z.maxLength(400_000)),
      ]),
      start: z._default(flag, 1),
    }),
    output: z.object({ model: trainModel }),
    codes: ['training_files_missing', 'too_many_jobs', 'balance'],
  }),
  delTrainModel: call({
    method: 'POST',
    path: '/api/train/del_model',
    access: 'user',
    writes: many,
    summary: '删除项目和它的文件',
    input: z.object({ id }),
    output: z.object({}),
  }),
  packModel: slowCall({
    method: 'GET',
    path: '/api/train/pack_model',
    access: 'user',
    summary: '把译好的文件打成 zip',
    input: z.object({ model_id: id }),
    output: z.object({ url: z.string(), model: trainModel }),
    codes: ['training_unfinished', 'file_quota'],
    effect: 'screen',
  }),
  downloadLora: download({
    path: '/api/train/download_lora_model',
    access: 'user',
    summary: '下载训练好的画风模型',
    input: z.object({ model_id: id, ticket }),
    output: z.object({}),
    codes: ['training_unfinished'],
  }),
  trainFileList: call({
    method: 'GET',
    path: '/api/train/file_list',
    access: 'public',
    summary: '项目的文件，新的在前',
    input: z.object({
      model_id: id,
      page,
      page_size: z._default(wholeNumber(1, trainLimits.mostFilePage), trainLimits.filePageSize),
    }),
    output: z.object({ ...listOf(trainFile), model_private: z.int() }),
  }),
  retryTrainFile: call({
    method: 'POST',
    path: '/api/train/retry',
    access: 'user',
    summary: '失败的文件再训练一次',
    input: z.object({ fileId: id }),
    output: z.object({ message: z.string() }),
    codes: ['too_many_jobs', 'balance'],
  }),
  delTrainFile: call({
    method: 'POST',
    path: '/api/train/del_file',
    access: 'user',
    writes: many,
    summary: '从项目里去掉一个文件和由它得到的一切',
    input: z.object({ file_id: id }),
    output: z.object({}),
  }),
  uploadTrainFile: upload({
    path: '/api/train/upload_file',
    access: 'user',
    idempotent: true,
    summary:
      '上传训练文件，随即开始训练（start 为 0 时等 train/start）。没有 model_id 时归入自己最新的翻译或知识库项目',
    maxBytes: trainLimits.fileBytes,
    tooLarge: trainTexts.size,
    input: z.object({
      ticket,
      model_id: z.optional(id),
      /** Bytes of the file, where a client wants it to be refused unless all of it came. */
      size: z.optional(wholeNumber(1, trainLimits.fileBytes)),
      /** 0: it is only kept, and begun by train/start. */
      start: z._default(flag, 1),
    }),
    output: z.object({
      file: trainFile,
      message: z.string(),
    }),
    codes: ['upload_type', 'upload_unreadable', 'file_quota', 'training_too_many'],
  }),
  trainQuote: slowCall({
    method: 'GET',
    path: '/api/train/quote',
    access: 'user',
    summary: '还没有开始的文件大约要花多少，它们像是什么语言',
    input: z.object({ model_id: id }),
    output: z.object({
      files: z.int(),
      /** Tokens that all of them will take, guessed; 0: free. */
      tokens: z.int(),
      /** Archives, whose price is not known before they are opened. */
      archives: z.int(),
      /** Of a translation: 1 or 2 where the files ask for that direction, and another one is set; else 0. */
      direction: z.int(),
    }),
  }),
  startTraining: call({
    method: 'POST',
    path: '/api/train/start',
    access: 'user',
    summary: '开始训练或翻译还没有开始的文件',
    input: z.object({ model_id: id }),
    output: z.object({ model: trainModel }),
    codes: ['training_files_missing', 'too_many_jobs'],
    idempotent: true,
  }),
  trainLog: call({
    method: 'GET',
    path: '/api/train/log',
    access: 'public',
    summary: '一个文件的训练日志，从 end_id 之后起',
    input: z.object({
      file_id: id,
      end_id: z._default(wholeNumber(0, Number.MAX_SAFE_INTEGER), 0),
    }),
    output: z.object({ list: z.array(trainLogLine), status: z.int() }),
  }),
  trainFileContent: download({
    path: '/api/train/file',
    access: 'public',
    summary: '一个文件、它的译文或一个压缩包；知道 key 就可以读',
    input: z.object({ key: text(400) }),
    output: z.object({}),
  }),
  segmentList: call({
    method: 'GET',
    path: '/api/train/segments',
    access: 'public',
    summary: '一个文件的原文与译文，按句对照',
    input: z.object({ file_id: id, page }),
    output: z.object({ ...listOf(segment), name: z.string(), mine: z.boolean() }),
  }),
  saveSegment: call({
    method: 'POST',
    path: '/api/train/save_segment',
    access: 'user',
    summary: '改一句译文；all 为 1 时项目里同样的原文都改',
    input: z.object({ id, target: text(20_000), all: z._default(flag, 0) }),
    output: z.object({ changed: z.int() }),
    effect: 'none',
  }),
};
