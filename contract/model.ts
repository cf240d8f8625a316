import * as z from 'zod/mini';
import { call, flag, text, time } from './call.ts';
import { imageModel } from './image.ts';
import { voices } from './speech.ts';
import { videoModel } from './video.ts';

export const model = z.object({
  /** The key by which sessions name it. */
  name: z.string(),
  label: z.string(),
  color: z.string(),
  logo: z.string(),
  remark: z.string(),
  type: z.int(),
  display: z.boolean(),
  vision: z.boolean(),
  /** Works without any outside service. */
  built_in: z.boolean(),
  /** Whoever asks may choose how long it thinks. */
  thinking: z.boolean(),
  /** It calls tools. */
  tools: z.boolean(),
  vip_excluded: z.boolean(),
  /** Most characters of one prompt; null: 65535. */
  max_prompt: z.nullable(z.int()),
  /** Tokens taken per token of the prompt; null: the factor. */
  prompt_factor: z.nullable(z.number()),
  /** Of what its service read from a cache; null: as the rest of the prompt. */
  cached_factor: z.nullable(z.number()),
  /** Of what its service wrote into a cache; null: as the rest of the prompt. */
  written_factor: z.nullable(z.number()),
  /** Tokens taken per token of the reply; 0: free. */
  factor: z.number(),
  /** Another base address for streaming; empty: this server. */
  accelerator: z.string(),
  /** The same by the specification's names, flat. */
  unique_key: z.string(),
  remarks: z.string(),
  /** Factors of a model of images by its checkpoints' names. */
  factors: z.record(z.string(), z.number()),
  checkpoints: z.array(z.string()),
  default_checkpoint: z.string(),
  /** `WxH`; empty: any. */
  sizes: z.array(z.string()),
  size_limit: z.array(z.string()),
  /** Factors by the code of the size. */
  size_rate: z.array(z.number()),
  /** 1: nobody can choose it now; it is listed for the sake of sessions that name it. */
  disable: z.int(),
  /** 1: not to be called through the developer API. */
  disable_api: z.int(),
  /** 1: only who paid once or is a member can use it. */
  vip: z.int(),
  /** 1: it is such a one, and whoever asks has not paid yet. */
  locked: z.int(),
  /** 1: only managers can use it. */
  private: z.int(),
  /** 0: of images, and not trained to its end; all others 1. */
  status: z.int(),
  /** Of a model of images: what it takes. Null for all others. */
  image: z.nullable(imageModel),
  /** Of a model of films: what it takes. Null for all others. */
  video: z.nullable(videoModel),
  /** Of a model that speaks: its voices. Null for all others. */
  voice: z.nullable(voices),
});
export type Model = z.output<typeof model>;

/** ms; a page's clock counts parts of them. */
const duration = z.pipe(
  z.pipe(
    z.union([z.number(), z.string().check(z.regex(/^\d{1,8}(\.\d{1,20})?$/))]),
    z.transform((value) => Math.round(Number(value))),
  ),
  z.int().check(z.gte(0), z.lte(86_400_000)),
);

export const modelCalls = {
  models: call({
    method: 'GET',
    path: '/api/models',
    access: 'public',
    summary: '可用的模型，后面是停用的（disable 为 1）',
    input: z.object({}),
    output: z.object({
      models: z.array(model),
      /** What whoever asks gets in a new session that names none. */
      default_model: z.string(),
    }),
  }),
  modelHealth: call({
    method: 'GET',
    path: '/api/model_health',
    access: 'public',
    summary: '模型在最近一天里的快慢与成败；没有人用过的不在其中',
    input: z.object({}),
    output: z.object({
      list: z.array(
        z.object({
          model: z.string(),
          /** Requests that ended by themselves, and of them those that succeeded. */
          count: z.int(),
          success: z.int(),
          /** Half of those that succeeded were so quick to the first word and to the end, ms. */
          first_time: z.int(),
          time: z.int(),
        }),
      ),
    }),
  }),
  modelStat: call({
    method: 'POST',
    path: '/api/model_stat',
    access: 'guest',
    summary: '客户端报告一次请求的快慢与成败',
    input: z.object({
      /** Or 1 and 0, true and false. */
      state: z.union([
        z.enum(['success', 'error', 'stop']),
        z.pipe(
          z.enum(['fail', 'failed', 'failure']),
          z.transform((): 'success' | 'error' => 'error'),
        ),
        z.pipe(
          flag,
          z.transform((went): 'success' | 'error' => (went === 1 ? 'success' : 'error')),
        ),
      ]),
      /** From the request to the first chunk and to the end, ms. */
      first_time: z._default(duration, 0),
      time: z._default(duration, 0),
      model: text(100),
      /** When it was asked: ISO 8601, or ms since 1970; or how long ago that was, ms. Left out: now. */
      request_time: z.optional(z.union([time, z.number()])),
    }),
    output: z.object({}),
    effect: 'none',
  }),
};
