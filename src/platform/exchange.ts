import ky from 'ky';
import { awaitBytes, heard, heardSince, lineIsWell, lost } from './line.ts';

/** What came back from the server. */
export interface Exchanged {
  status: number;
  headers: Headers;
  /** Its JSON; undefined: it was none, or broke off. */
  body: unknown;
}

/** No answer came. */
export class Unanswered extends Error {
  /** The line is there and nothing came over it; else nothing could be reached. */
  readonly silent: boolean;
  constructor(silent: boolean) {
    super(silent ? 'no answer' : 'unreached');
    this.silent = silent;
  }
}

/**
 * As long as a read waits for the next bytes, ms. It may have been asked on a connection that is dead
 * without anybody knowing: it is asked once more, if others are answered meanwhile, and waits longer.
 */
const readPatience = [10_000, 20_000] as const;
/** How often a write looks whether the line has died under it, and as long as it may take at all, ms. */
const writeLook = 30_000;
const writePatience = 600_000;

const http = ky.create({ timeout: false, retry: 0, throwHttpErrors: false });

export interface Request {
  address: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers: Headers;
  json: unknown;
  keepalive: boolean;
  signal: AbortSignal | undefined;
  /** The same request twice does the same as once. */
  repeatable: boolean;
  /** An answer that is on its way already, once. */
  early: Promise<Response | undefined> | undefined;
}

type Watch = { moved: () => void; end: () => void };

/** Ends `abort` when nothing has come for too long. */
const watchRead = (abort: AbortController, patience: number): Watch => {
  const giveUp = () => abort.abort();
  let timer = setTimeout(giveUp, patience);
  return {
    moved: () => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, patience);
    },
    end: () => clearTimeout(timer),
  };
};
const watchWrite = (abort: AbortController): Watch => {
  const begun = performance.now();
  const timer = setInterval(() => {
    if (!lineIsWell() || performance.now() - begun > writePatience) abort.abort();
  }, writeLook);
  return { moved: () => undefined, end: () => clearInterval(timer) };
};

const readBody = async (response: Response, moved: () => void): Promise<unknown> => {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const part = await reader?.read();
    if (!part?.value) break;
    heard();
    moved();
    text += decoder.decode(part.value, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch {
    return undefined;
  }
};

/** Asks once. Rejects with Unanswered, or with the reason of the caller's signal. */
const askOnce = async (request: Request, patience: number): Promise<Exchanged> => {
  const { signal, method } = request;
  const abort = new AbortController();
  const cancel = () => abort.abort();
  signal?.throwIfAborted();
  signal?.addEventListener('abort', cancel);
  const watch = method === 'GET' ? watchRead(abort, patience) : watchWrite(abort);
  const endWaiting = awaitBytes(cancel);
  const given = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => reject(new Error('given up')));
  });
  given.catch(() => undefined);
  try {
    const response =
      (await Promise.race([request.early, given])) ??
      (await http(new URL(request.address, location.origin), {
        method,
        headers: request.headers,
        keepalive: request.keepalive,
        signal: abort.signal,
        ...(request.json === undefined ? {} : { json: request.json }),
      }));
    heard();
    watch.moved();
    // A body that breaks off is no answer to a read. A write was answered, by its status, and its
    // body says so by being no JSON.
    const body = await readBody(response, watch.moved).catch((error: unknown) => {
      if (abort.signal.aborted || method === 'GET') throw error;
      return undefined;
    });
    return { status: response.status, headers: response.headers, body };
  } catch {
    signal?.throwIfAborted();
    const silent = abort.signal.aborted;
    if (!silent) lost();
    throw new Unanswered(silent);
  } finally {
    watch.end();
    endWaiting();
    signal?.removeEventListener('abort', cancel);
  }
};

/**
 * Makes a request and reads its answer. A read gives up once nothing has come for some seconds; a
 * write only once the line has died under it. Rejects with Unanswered, or with the reason of the
 * caller's signal.
 */
export const exchange = async (request: Request): Promise<Exchanged> => {
  const begun = performance.now();
  try {
    return await askOnce(request, readPatience[0]);
  } catch (error) {
    if (!(error instanceof Unanswered && error.silent && request.repeatable)) throw error;
    if (!heardSince(begun) || !lineIsWell()) throw error;
    return askOnce({ ...request, early: undefined }, readPatience[1]);
  }
};
