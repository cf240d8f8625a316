import * as z from 'zod/mini';
import { call, text, time, wholeNumber } from './call.ts';
import { imageModel } from './image.ts';

/** Kinds of model (document 1 §3). */
export const modelTypes = {
  chat: 0,
  image: 1,
  speechToText: 2,
  textToSpeech: 3,
  video: 4,
} as const;

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
  vip_excluded: z.boolean(),
  /** Most characters of one prompt; null: 65535. */
  max_prompt: z.nullable(z.int()),
  /** Tokens taken per token of the prompt; null: the factor. */
  prompt_factor: z.nullable(z.number()),
  /** Tokens taken per token of the reply; 0: free. */
  factor: z.number(),
  /** Another base address for streaming; empty: this server. */
  accelerator: z.string(),
  /** Of a model of pictures: what it takes. Null for all others. */
  image: z.nullable(imageModel),
});
export type Model = z.output<typeof model>;

export const modelCalls = {
  models: call({
    method: 'GET',
    path: '/api/models',
    access: 'public',
    summary: '可用的模型',
    input: z.object({}),
    output: z.object({ models: z.array(model) }),
  }),
  modelStat: call({
    method: 'POST',
    path: '/api/model_stat',
    access: 'guest',
    summary: '客户端报告一次请求的快慢与成败',
    input: z.object({
      state: z.enum(['success', 'error', 'stop']),
      /** From the request to the first chunk and to the end, ms. */
      first_time: wholeNumber(0, 86_400_000),
      time: wholeNumber(0, 86_400_000),
      model: text(100),
      request_time: time,
    }),
    output: z.object({}),
    codes: ['account_disabled'],
  }),
};
