import { anySignal } from './any-signal.ts';
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
 * As long as a read waits for the next bytes, at first and when it is asked once more, ms. It may have
 * been asked on a connection that is dead without anybody knowing.
 */
const readPatience = [10_000, 20_000] as const;
/** So often the same is asked beside itself at most: a server may merely be slow. */
const mostTries = 3;
/** How often a write looks whether the line has died under it, ms, and how many times at most. */
const writeLook = 30_000;
const writeLooks = 20;

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

/** Ends `abort` when nothing has come for too long. Gives what tells of bytes, and what ends it. */
const watch = (abort: AbortController, isRead: boolean, patience: number) => {
  let looks = 0;
  const look = () => {
    looks += 1;
    if (isRead || !lineIsWell() || looks === writeLooks) abort.abort();
  };
  const begin = () => setInterval(look, isRead ? patience : writeLook);
  let timer = begin();
  const end = () => clearInterval(timer);
  const moved = () => {
    end();
    timer = begin();
  };
  return { moved, end };
};

const readBody = async (response: Response, moved: () => void): Promise<unknown> => {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const part = await reader?.read();
    if (!part?.value) break;
    moved();
    text += decoder.decode(part.value, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch {
    return undefined;
  }
};

/** What is done about a try while it lasts. */
interface Course {
  /** Others are answered and this is not. */
  doubt: () => void;
  /** Its answer begins. */
  came: () => void;
}

/**
 * Asks once. Rejects with Unanswered, or with the reason of the caller's signal.
 * @param course left out: it is given up after a silence, and not for being slow
 */
const askOnce = async (request: Request, patience: number, course?: Course): Promise<Exchanged> => {
  const { signal, method, headers, json } = request;
  const abort = new AbortController();
  const cancel = () => abort.abort();
  signal?.throwIfAborted();
  signal?.addEventListener('abort', cancel);
  if (json !== undefined) headers.set('content-type', 'application/json');
  const watching = watch(abort, method === 'GET', patience);
  const again = (afterSilence: boolean) => {
    if (course) course.doubt();
    else if (afterSilence) cancel();
  };
  const wait = () => awaitBytes(again);
  let endWaiting = wait();
  const moved = () => {
    heard();
    watching.moved();
    endWaiting();
    endWaiting = wait();
  };
  const given = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => reject(new Error('given up')));
  });
  given.catch(() => undefined);
  try {
    const response =
      (await Promise.race([request.early, given])) ??
      (await fetch(new URL(request.address, location.origin), {
        method,
        headers,
        keepalive: request.keepalive,
        signal: abort.signal,
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      }));
    course?.came();
    moved();
    // A body that breaks off is no answer to a read. A write was answered, by its status, and its
    // body says so by being no JSON.
    const body = await readBody(response, moved).catch((error: unknown) => {
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
    watching.end();
    endWaiting();
    signal?.removeEventListener('abort', cancel);
  }
};

/**
 * Asks on a connection; where others are answered and this is not, on another beside it, as that one
 * may be dead. The one whose answer begins first goes on alone.
 */
const askBeside = (request: Request): Promise<Exchanged> =>
  new Promise((resolve, reject) => {
    const open = new Set<AbortController>();
    let begun = 0;
    const begin = (): void => {
      const own = new AbortController();
      const signal = request.signal ? anySignal([request.signal, own.signal]) : own.signal;
      const early = begun === 0 ? request.early : undefined;
      const patience = readPatience[begun === 0 ? 0 : 1];
      const at = performance.now();
      begun += 1;
      open.add(own);
      const doubt = () => {
        if (begun < mostTries && request.signal?.aborted !== true) begin();
      };
      const came = () => {
        for (const each of open) if (each !== own) each.abort();
      };
      askOnce({ ...request, early, signal }, patience, { doubt, came }).then(
        resolve,
        (error: unknown) => {
          open.delete(own);
          const isSilent = error instanceof Unanswered && error.silent;
          if (isSilent && heardSince(at) && lineIsWell()) doubt();
          if (open.size === 0) reject(error);
        },
      );
    };
    begin();
  });

/**
 * Makes a request and reads its answer. A read gives up once nothing has come for some seconds; a
 * write only once the line has died under it. Rejects with Unanswered, or with the reason of the
 * caller's signal.
 */
export const exchange = (request: Request): Promise<Exchanged> =>
  request.repeatable ? askBeside(request) : askOnce(request, readPatience[0]);
