import { FormData } from 'undici';
import * as z from 'zod/mini';
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

/** What the service takes; anything else it refuses. */
export const stabilitySizes = ['1024x576', '576x1024', '768x768'];

const begun = z.looseObject({ id: z.string().check(z.regex(/^[\w-]{1,200}$/)) });
const fault = z.looseObject({ name: z.optional(z.string()) });
const everyMs = 10_000;

/**
 * Stability's image-to-video (v2beta: start, then ask for the result).
 * @param pollMs between two questions for the result; the service wants no fewer than 10 s
 */
export const createStabilityVideoEngine = (options: {
  /** Such as `https://api.stability.ai`. */
  baseUrl: string;
  apiKey: string;
  pollMs?: number;
}): VideoEngine => {
  const headers = { authorization: `Bearer ${options.apiKey}` };
  const at = (path: string) => new URL(`${options.baseUrl.replace(/\/+$/, '')}${path}`);
  const refuse = (status: number, body: Buffer) => {
    const said = fault.safeParse(jsonOf(body));
    const banned = said.success && said.data.name === 'content_moderation';
    return banned || status === 403 ? bannedWords() : refusedBy(status);
  };
  return {
    concurrency: 4,
    describe: () => ({ sizes: stabilitySizes, seconds: 4 }),
    run: (order, io) =>
      billedAtOnce(io, async () => {
        const size = nearestSize(stabilitySizes, order);
        const image = await coverWith(order.base, size);
        let id = (io.resume as { id?: string } | null)?.id;
        if (id === undefined) {
          const form = new FormData();
          form.set('image', new Blob([new Uint8Array(image)], { type: 'image/png' }), 'image.png');
          form.set('seed', String(order.seed));
          form.set('cfg_scale', String(order.cfgScale));
          form.set('motion_bucket_id', String(order.motion));
          const reply = await ask(at('/v2beta/image-to-video'), {
            method: 'POST',
            headers,
            form,
            signal: io.signal,
          });
          if (reply.status !== 200) throw refuse(reply.status, reply.body);
          const said = begun.safeParse(jsonOf(reply.body));
          if (!said.success) throw senselessReply(said.error);
          id = said.data.id;
          await io.remember({ id });
        }
        const look = async () => {
          const reply = await ask(at(`/v2beta/image-to-video/result/${id}`), {
            headers: { ...headers, accept: 'video/*' },
            signal: io.signal,
            patience: fetchPatience,
            maxBytes: mostFilmBytes,
          });
          if (reply.status === 202) return { fraction: null };
          if (reply.status !== 200) throw refuse(reply.status, reply.body);
          return reply.body;
        };
        const data = await waitForFilm(look, io, {
          everyMs: options.pollMs ?? everyMs,
          usualMs: 60_000,
        });
        return { data, poster: image };
      }),
  };
};
