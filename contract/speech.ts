import * as z from 'zod/mini';
import { always, decimal, download, flag, text, upload, wholeNumber } from './call.ts';
import { limits } from './limits.ts';

/** Voices of a model of speech: what a request says for it, and what people read. */
export const voices = z.record(z.string(), z.string());
export type Voices = z.output<typeof voices>;

const refusals = [
  'login_required',
  'balance',
  'balance_excluded',
  'model_unavailable',
  'engine_failed',
  'engine_timeout',
  'too_many_jobs',
] as const;

export const speechCalls = {
  speechToText: upload({
    path: '/api/speech_to_text',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    claimsKey: true,
    summary: '把一段录音变成文字；model 在表单或地址里',
    maxBytes: limits.speech.fileBytes,
    input: z.object({ model: z.optional(text(100)), ticket: z.optional(text(100)) }),
    output: z.object({
      text: z.string(),
      /** Of the recording, seconds. */
      duration: z.number(),
      deduct_tokens: z.int(),
    }),
    codes: [...refusals, 'recogniser_missing', 'upload_unreadable', 'upload_type'],
    effect: 'none',
  }),
  textToSpeech: download({
    method: 'POST',
    path: '/api/text_to_speech',
    access: 'guest',
    countsForGuests: ({ prepare }) => prepare !== 1,
    idempotent: true,
    summary:
      '把文字念出来：音频，失败时是带 message 的 JSON。带 history_id 的只做一次，refresh 为 1 时重做',
    input: z.object({
      model: z.optional(text(100)),
      text: z._default(text(65_535), ''),
      voice: z._default(text(100), ''),
      /** A message whose reply is read, where `text` is empty; with it the audio is kept. 0: none. */
      history_id: z.optional(
        z.pipe(
          wholeNumber(0, Number.MAX_SAFE_INTEGER),
          z.transform((value) => (value === 0 ? undefined : value)),
        ),
      ),
      refresh: z._default(flag, 0),
      /** 1: nothing is read; the voice that is built in is made ready, and the answer is empty. */
      prepare: z._default(flag, 0),
      /** Above 2 counts as 1. */
      speed: z._default(decimal(0, 100), 1),
    }),
    output: z.object({}),
    codes: [
      ...refusals,
      'prompt_too_long',
      'prompt_too_short',
      'private_session',
      'session_deleted',
    ],
    effect: 'none',
  }),
};
