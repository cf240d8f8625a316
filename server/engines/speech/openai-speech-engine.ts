import { type Dispatcher, FormData } from 'undici';
import * as z from 'zod/mini';
import type { Voices } from '#contract/speech.ts';
import { apiUrl } from '../openai-compatible/address.ts';
import { isMoneyFault, readFault } from '../openai-compatible/upstream-error.ts';
import { createWire, jsonOf, type Patience } from '../service-wire.ts';
import { piecesOf } from './spoken-pieces.ts';
import {
  SpeechEngineError,
  type HearEngine,
  type SpeakEngine,
  type Spoken,
} from './speech-engine.ts';

const { ask, refusedBy, senselessReply } = createWire('语音服务', SpeechEngineError);

const patience: Patience = { firstByteMs: 60_000, idleMs: 30_000, totalMs: 4 * 60_000 };
const mostBytes = 64 * 1024 * 1024;
/** A shorter answer is no sound. */
const headBytes = 64;
/** Characters of one request; a longer text is read in parts. */
const atOnce = 4000;

const usual: Voices = {
  alloy: 'Alloy（中性）',
  nova: 'Nova（女声）',
  shimmer: 'Shimmer（女声）',
  echo: 'Echo（男声）',
  onyx: 'Onyx（男声）',
  fable: 'Fable（英音）',
};
const newer: Voices = {
  ...usual,
  coral: 'Coral（女声）',
  sage: 'Sage（女声）',
  ash: 'Ash（男声）',
  ballad: 'Ballad（男声）',
  verse: 'Verse（男声）',
};

const fileNames: Readonly<Record<string, string>> = {
  'audio/wav': 'speech.wav',
  'audio/mpeg': 'speech.mp3',
  'audio/ogg': 'speech.ogg',
  'audio/flac': 'speech.flac',
  'audio/mp4': 'speech.m4a',
  'video/mp4': 'speech.mp4',
  'audio/webm': 'speech.webm',
  'video/webm': 'speech.webm',
};

const heard = z.looseObject({ text: z.string() });

/** Any service with OpenAI's audio/speech and audio/transcriptions. */
export const createOpenAiSpeechEngine = (options: {
  /** Such as `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Empty: none is sent. */
  apiKey: string;
  /** Added to each request; the key counts more. */
  headers?: Record<string, string>;
  /** Left out: straight to the service. */
  dispatcher?: Dispatcher;
}): SpeakEngine & HearEngine => {
  const { dispatcher } = options;
  const headers: Record<string, string> = {
    ...options.headers,
    ...(options.apiKey === '' ? {} : { authorization: `Bearer ${options.apiKey}` }),
  };
  const refuse = (status: number, body: Buffer) =>
    refusedBy(isMoneyFault(readFault(status, jsonOf(body))) ? 402 : status);
  return {
    voices: (model) => (model.startsWith('tts-1') ? usual : newer),

    async speak({ model, text, voice, speed }, signal, onPart) {
      const parts: Buffer[] = [];
      let mime: Spoken['mime'] | null = null;
      for (const input of piecesOf(text, atOnce)) {
        let head: Buffer | null = Buffer.alloc(0);
        const onChunk = (chunk: Buffer) => {
          head &&= Buffer.concat([head, chunk]);
          if (head && head.length < headBytes) return;
          // Some say no in an answer that says yes by its status.
          if (head?.[0] === 0x7b) throw senselessReply();
          mime ??= head?.subarray(0, 4).toString('latin1') === 'RIFF' ? 'audio/wav' : 'audio/mpeg';
          onPart?.(head ?? chunk, mime);
          head = null;
        };
        const reply = await ask(apiUrl(options.baseUrl, 'audio/speech'), {
          method: 'POST',
          headers: { ...headers, accept: 'audio/mpeg, */*;q=0.5' },
          json: { model, input, voice, speed, response_format: 'mp3' },
          signal,
          dispatcher,
          patience,
          maxBytes: mostBytes,
          onChunk,
        });
        if (reply.status !== 200) throw refuse(reply.status, reply.body);
        if (head) throw senselessReply();
        parts.push(reply.body);
      }
      return { data: Buffer.concat(parts), mime: mime ?? 'audio/mpeg' };
    },

    async hear({ model, data, mime, language, hint }, signal) {
      const form = new FormData();
      form.set('model', model);
      form.set('response_format', 'json');
      if (language) form.set('language', language);
      if (hint) form.set('prompt', hint);
      const file = new Blob([new Uint8Array(data)], { type: mime });
      form.set('file', file, fileNames[mime] ?? 'speech.wav');
      const reply = await ask(apiUrl(options.baseUrl, 'audio/transcriptions'), {
        method: 'POST',
        headers,
        form,
        signal,
        dispatcher,
        patience,
      });
      if (reply.status !== 200) throw refuse(reply.status, reply.body);
      const said = heard.safeParse(jsonOf(reply.body));
      if (!said.success) throw senselessReply(said.error);
      return said.data.text.trim();
    },
  };
};
