import type * as z from 'zod/mini';
import { ImageEngineError } from '../image-engine.ts';
import { ask, jsonOf, mostBytes, refusedBy, senselessReply, type Patience } from '../image-wire.ts';
import { type Silence, usualSilence } from '../silence.ts';

export interface StableDiffusionOptions {
  /** Such as `http://127.0.0.1:7860`. */
  baseUrl: string;
  /** `user:password` of `--api-auth`; empty: none. */
  auth: string;
  /** How often it is asked for its progress, ms. */
  pollMs?: number;
  silence?: Silence;
}

export type Webui = ReturnType<typeof createWebui>;

/** The calls of a webui. */
export const createWebui = (options: StableDiffusionOptions) => {
  const base = new URL(options.baseUrl);
  const headers: Record<string, string> =
    options.auth === ''
      ? {}
      : { authorization: `Basic ${Buffer.from(options.auth).toString('base64')}` };

  const address = (path: string): URL => {
    const url = new URL(base);
    const [folder = '', query = ''] = path.split('?');
    url.pathname = `${base.pathname.replace(/\/+$/, '')}/${folder}`;
    url.search = query;
    return url;
  };

  /** The answer as the shape says. @throws ImageEngineError */
  const call = async <T extends z.ZodMiniType>(
    path: string,
    shape: T,
    signal: AbortSignal,
    json?: unknown,
    patience?: Patience,
  ): Promise<z.output<T>> => {
    const reply = await ask(address(path), {
      method: json === undefined ? 'GET' : 'POST',
      headers,
      json,
      signal,
      ...(patience ? { patience, maxBytes: mostBytes.images } : {}),
    });
    if (reply.status !== 200) throw refusedBy(reply.status);
    const parsed = shape.safeParse(jsonOf(reply.body));
    if (!parsed.success) throw senselessReply(parsed.error);
    return parsed.data;
  };

  /** What a service may lack: null instead of an error. */
  const callIfThere = async <T extends z.ZodMiniType>(
    path: string,
    shape: T,
    signal: AbortSignal,
  ): Promise<z.output<T> | null> => {
    try {
      return await call(path, shape, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ImageEngineError) return null;
      throw error;
    }
  };

  return {
    /** How often it is asked for its progress, ms. */
    pollMs: options.pollMs ?? 1000,
    silence: options.silence ?? usualSilence,
    call,
    callIfThere,
    /** Posts an empty order whose answer says nothing. @throws ImageEngineError */
    tell: (path: string, signal: AbortSignal) =>
      ask(address(path), { method: 'POST', headers, json: {}, signal }),
    /** Whether there is a call of this path to be posted to: asked otherwise it says so. */
    isThere: (path: string, signal: AbortSignal): Promise<boolean> =>
      ask(address(path), { headers, signal }).then(
        ({ status }) => status === 405,
        () => false,
      ),
  };
};
