import * as z from 'zod/mini';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import { createImageFetch } from '../image-pixels.ts';
import { ask, jsonOf, refusedBy, senselessReply } from '../image-wire.ts';
import { type Silence, usualSilence } from '../silence.ts';
import { banned, failed, full } from './refusals.ts';

export interface MidjourneyOptions {
  /** Such as `http://127.0.0.1:8080`; the calls lie below `/mj` there unless it ends so. */
  baseUrl: string;
  /** Sent as `mj-api-secret`; empty: none. */
  secret: string;
  fetch: GuardedFetch;
  /** How often a work is asked for at first and later on, ms. */
  pollMs?: { first: number; longest: number };
  silence?: Silence;
}

/** What the service says to an order. */
export const codes = { taken: 1, there: 21, queued: 22, full: 23, banned: 24 } as const;
const submitted = z.looseObject({
  code: z.int(),
  result: z.nullish(z.union([z.string(), z.number()])),
});
export const uploaded = z.looseObject({ code: z.int(), result: z.array(z.string()) });

const states = [
  'NOT_START',
  'SUBMITTED',
  'IN_PROGRESS',
  'MODAL',
  'FAILURE',
  'SUCCESS',
  'CANCEL',
] as const;
const task = z.looseObject({
  status: z.nullish(z.enum(states)),
  action: z.nullish(z.string()),
  progress: z.nullish(z.string()),
  imageUrl: z.nullish(z.string()),
  failReason: z.nullish(z.string()),
  properties: z.nullish(z.record(z.string(), z.unknown())),
  buttons: z.nullish(
    z.array(
      z.looseObject({
        customId: z.string(),
        emoji: z.nullish(z.string()),
        label: z.nullish(z.string()),
      }),
    ),
  ),
});
export type Task = z.output<typeof task>;

export type Proxy = ReturnType<typeof createProxy>;

/** The calls of a service that speaks midjourney-proxy's dialects. */
export const createProxy = (options: MidjourneyOptions) => {
  const base = new URL(options.baseUrl);
  const folder = base.pathname.replace(/\/+$/, '');
  const below = folder.endsWith('/mj') ? folder : `${folder}/mj`;
  const headers: Record<string, string> =
    options.secret === '' ? {} : { 'mj-api-secret': options.secret };

  const address = (path: string): URL => {
    const url = new URL(base);
    url.pathname = `${below}/${path}`;
    return url;
  };

  /** @throws ImageEngineError */
  const call = async (path: string, signal: AbortSignal, json?: unknown): Promise<unknown> => {
    const reply = await ask(address(path), {
      method: json === undefined ? 'GET' : 'POST',
      headers,
      json,
      signal,
    });
    if (reply.status !== 200) throw refusedBy(reply.status);
    const answer = jsonOf(reply.body);
    if (answer === null) throw senselessReply();
    return answer;
  };

  /** Gives the number of the work. @throws ImageEngineError */
  const submit = async (kind: string, body: unknown, signal: AbortSignal): Promise<string> => {
    const answer = submitted.safeParse(await call(`submit/${kind}`, signal, body));
    if (!answer.success) throw senselessReply(answer.error);
    const { code, result } = answer.data;
    if (code === codes.full) throw full();
    if (code === codes.banned) throw banned();
    const known: readonly number[] = [codes.taken, codes.there, codes.queued];
    const id = String(result ?? '');
    if (!known.includes(code)) throw failed('Midjourney 没有接受这次请求，没有扣费，请重试', true);
    if (!/^[\w-]{1,100}$/.test(id)) throw senselessReply();
    return id;
  };

  const read = async (id: string, signal: AbortSignal): Promise<Task> => {
    const answer = task.safeParse(await call(`task/${encodeURIComponent(id)}/fetch`, signal));
    if (!answer.success) throw senselessReply(answer.error);
    return answer.data;
  };

  /** Not every dialect can be told; true: it was, and takes the work back. */
  const cancel = async (id: string): Promise<boolean> => {
    const path = `task/${encodeURIComponent(id)}/cancel`;
    const answer = await call(path, AbortSignal.timeout(4000), {}).catch(() => null);
    const said = submitted.safeParse(answer);
    return said.success && said.data.code === codes.taken;
  };

  return {
    poll: options.pollMs ?? { first: 500, longest: 4000 },
    silence: options.silence ?? usualSilence,
    fetchImage: createImageFetch(base, options.fetch, headers),
    call,
    submit,
    read,
    cancel,

    /** A work that an earlier worker ordered: the answer as it is; null: it is not known. */
    found: async (id: string, signal: AbortSignal) => {
      const path = `task/${encodeURIComponent(id)}/fetch`;
      const reply = await ask(address(path), { headers, signal });
      const answer = reply.status === 200 ? jsonOf(reply.body) : undefined;
      // A work that is not known is answered with 404, or with nothing or `null` for an answer.
      if (reply.status === 404 || answer === null) return null;
      return { status: task.safeParse(answer).data?.status ?? null };
    },
  };
};
