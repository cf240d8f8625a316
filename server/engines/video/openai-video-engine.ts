import { type Dispatcher, FormData } from 'undici';
import * as z from 'zod/mini';
import { apiUrl } from '../openai-compatible/address.ts';
import { isContentFault, isMoneyFault, readFault } from '../openai-compatible/upstream-error.ts';
import { jsonOf } from '../service-wire.ts';
import type { VideoEngine } from './video-engine.ts';
import {
  ask,
  bannedWords,
  billedAtOnce,
  coverWith,
  fetchPatience,
  mostFilmBytes,
  nearestSize,
  refusedBy,
  senselessReply,
  waitForFilm,
} from './video-wire.ts';
import { VideoEngineError } from './video-engine.ts';

const sizes = ['1280x720', '720x1280'];
const seconds = 4;
const everyMs = 5_000;

const state = z.looseObject({
  id: z.string().check(z.regex(/^[\w.:-]{1,200}$/)),
  status: z.string(),
  progress: z.nullish(z.number()),
  error: z.nullish(z.looseObject({ code: z.nullish(z.string()) })),
});

/**
 * Any service with OpenAI's videos: create, ask how it stands, fetch the content.
 * @param pollMs between two questions how it stands
 */
export const createOpenAiVideoEngine = (options: {
  /** Such as `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Empty: none is sent. */
  apiKey: string;
  /** Added to each request; the key counts more. */
  headers?: Record<string, string>;
  /** Left out: straight to the service. */
  dispatcher?: Dispatcher;
  pollMs?: number;
}): VideoEngine => {
  const { dispatcher } = options;
  const headers: Record<string, string> = {
    ...options.headers,
    ...(options.apiKey === '' ? {} : { authorization: `Bearer ${options.apiKey}` }),
  };
  const refuse = (status: number, body: Buffer): Error => {
    const fault = readFault(status, jsonOf(body));
    if (isContentFault(fault)) return bannedWords();
    return refusedBy(isMoneyFault(fault) ? 402 : status);
  };
  const stateOf = (body: Buffer) => {
    const said = state.safeParse(jsonOf(body));
    if (!said.success) throw senselessReply(said.error);
    return said.data;
  };
  return {
    concurrency: 4,
    describe: () => ({ sizes: [], seconds }),
    run: (order, io) =>
      billedAtOnce(io, async () => {
        const size = nearestSize(sizes, order);
        const image = await coverWith(order.base, size);
        let id = (io.resume as { id?: string } | null)?.id;
        if (id === undefined) {
          const form = new FormData();
          form.set('model', order.model);
          form.set('prompt', order.prompt || '让画面自然地动起来');
          form.set('seconds', String(seconds));
          form.set('size', `${size.width}x${size.height}`);
          const file = new Blob([new Uint8Array(image)], { type: 'image/png' });
          form.set('input_reference', file, 'image.png');
          const reply = await ask(apiUrl(options.baseUrl, 'videos'), {
            method: 'POST',
            headers,
            form,
            signal: io.signal,
            dispatcher,
          });
          if (reply.status !== 200 && reply.status !== 201) throw refuse(reply.status, reply.body);
          id = stateOf(reply.body).id;
          await io.remember({ id });
        }
        const look = async () => {
          const reply = await ask(apiUrl(options.baseUrl, `videos/${id}`), {
            headers,
            signal: io.signal,
            dispatcher,
          });
          if (reply.status !== 200) throw refuse(reply.status, reply.body);
          const { status, progress, error } = stateOf(reply.body);
          if (status === 'queued' || status === 'in_progress' || status === 'processing')
            return {
              fraction: progress === null || progress === undefined ? null : progress / 100,
            };
          if (status !== 'completed') {
            if (/moderation|policy|safety/i.test(error?.code ?? '')) throw bannedWords();
            throw new VideoEngineError('engine_failed', '视频服务没有做成，没有扣费，请重试', {
              retriable: true,
              taken: true,
            });
          }
          const content = await ask(apiUrl(options.baseUrl, `videos/${id}/content`), {
            headers: { ...headers, accept: 'video/*' },
            signal: io.signal,
            dispatcher,
            patience: fetchPatience,
            maxBytes: mostFilmBytes,
          });
          if (content.status !== 200) throw refuse(content.status, content.body);
          return content.body;
        };
        const data = await waitForFilm(look, io, {
          everyMs: options.pollMs ?? everyMs,
          usualMs: 120_000,
        });
        return { data, poster: image };
      }),
  };
};
