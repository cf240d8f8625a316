import { Agent, type FormData, request } from 'undici';
import { timeLimit } from '../http/time-limit.ts';
import { ImageEngineError } from './image-engine.ts';

/** All services share it: one pool of connections for each origin. Redirects are not followed. */
const agent = new Agent({ connect: { timeout: 10_000 }, allowH2: false });

export interface Patience {
  /** Until the head of the answer, ms. */
  firstByteMs: number;
  /** From one piece of the body to the next, ms. */
  idleMs: number;
  /** Altogether, ms. */
  totalMs: number;
}

/** Of questions that a service answers at once. */
export const askPatience: Patience = { firstByteMs: 20_000, idleMs: 15_000, totalMs: 60_000 };
/** Of answers that come when the work is done: longer than any job may last. */
export const workPatience: Patience = {
  firstByteMs: 14 * 60_000,
  idleMs: 60_000,
  totalMs: 15 * 60_000,
};

export interface WireCall {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  json?: unknown;
  form?: FormData;
  signal: AbortSignal;
  patience?: Patience;
  /** Most bytes of the answer. */
  maxBytes?: number;
}

export interface WireReply {
  status: number;
  /** Of the answer; empty: none. */
  location: string;
  body: Buffer;
}

/** Of an answer that has no pictures in it, and of one that has. */
export const mostBytes = { words: 32 * 1024 * 1024, pictures: 160 * 1024 * 1024 } as const;

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

export const slowService = (cause?: unknown): ImageEngineError =>
  new ImageEngineError('engine_timeout', '画图服务太久没有回应，没有扣费，请重试', {
    retriable: true,
    cause,
  });

/** The service said or gave something that makes no sense. */
export const senselessReply = (cause?: unknown): ImageEngineError =>
  new ImageEngineError('engine_failed', '画图服务的回答无法读取，没有扣费，请重试', {
    retriable: true,
    cause,
  });

export const unsuitable = (message: string): ImageEngineError =>
  new ImageEngineError('job_unsuitable', message, { retriable: false, askerAtFault: true });

/** What a status that says no means for people; the service's own words never get there. */
export const refusedBy = (status: number): ImageEngineError => {
  const failed = (message: string, retriable = true, askerAtFault = false) =>
    new ImageEngineError('engine_failed', message, {
      retriable,
      askerAtFault,
      cause: new Error(`the service answered ${status}`),
    });
  if (status === 401 || status === 403)
    return failed('画图服务没有接受本站的密钥，没有扣费，请联系管理员');
  if (status === 429) return failed('画图服务繁忙，没有扣费，请稍后重试');
  if (status === 402) return failed('画图服务的额度已用完，没有扣费，请换一个模型或联系管理员');
  if (status === 404 || status === 405)
    return failed('画图服务没有这个功能或模型，没有扣费，请换一个');
  if (status === 408 || status === 504) return slowService();
  if (status >= 300 && status < 400) return failed('画图服务的地址已更改，没有扣费，请联系管理员');
  if (status >= 400 && status < 500)
    return failed('画图服务没有接受这次请求，没有扣费，请换一种写法', false, true);
  return failed('画图服务出错，没有扣费，请重试');
};

/**
 * One question to a service, with limits of time and size. Gives the answer whatever its status.
 * @throws ImageEngineError engine_timeout, engine_failed; the signal's reason once it is aborted
 */
export const ask = async (url: URL, call: WireCall): Promise<WireReply> => {
  call.signal.throwIfAborted();
  const patience = call.patience ?? askPatience;
  const most = call.maxBytes ?? mostBytes.words;
  const over = timeLimit(patience.totalMs);
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      method: call.method ?? 'GET',
      headersTimeout: patience.firstByteMs,
      bodyTimeout: patience.idleMs,
      signal: AbortSignal.any([call.signal, over]),
      headers: {
        accept: 'application/json, image/*;q=0.9, */*;q=0.1',
        ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: call.form ?? (call.json === undefined ? null : JSON.stringify(call.json)),
    });
    // Whatever ends the reading of a body early is no error of this process.
    body.on('error', () => {});
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > most) throw senselessReply(new Error(`more than ${most} bytes`));
        chunks.push(chunk);
      }
    } finally {
      body.destroy();
    }
    const { location } = headers;
    return {
      status: statusCode,
      location: typeof location === 'string' ? location : '',
      body: Buffer.concat(chunks),
    };
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof ImageEngineError) throw error;
    const { code } = error as { code?: unknown };
    if (over.aborted || (typeof code === 'string' && timeouts.has(code))) throw slowService(error);
    throw new ImageEngineError('engine_failed', '连不上画图服务，没有扣费，请稍后重试', {
      retriable: true,
      cause: error,
    });
  }
};

/** The JSON in an answer; null: there is none. */
export const jsonOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return null;
  }
};
