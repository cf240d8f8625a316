import { Agent, type Dispatcher, type FormData, request } from 'undici';
import { timeLimit } from '../net/time-limit.ts';
import { type CodeName } from '#contract/errors.ts';

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
  /** Left out: straight to the service. */
  dispatcher?: Dispatcher | undefined;
  patience?: Patience;
  /** Most bytes of the answer. */
  maxBytes?: number;
  /** Hears the body as it comes, where the service says yes. What it throws ends the call. */
  onChunk?: (chunk: Buffer) => void;
}

export interface WireReply {
  status: number;
  /** Of the answer; empty: none. */
  location: string;
  body: Buffer;
}

/** Of an answer that has no images in it, and of one that has. */
export const mostBytes = { words: 32 * 1024 * 1024, images: 160 * 1024 * 1024 } as const;

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** Why a service did not do its work. */
export class ServiceError extends Error {
  /** job_unsuitable, engine_failed, engine_timeout, prompt_banned … */
  readonly codeName: CodeName;
  /** Another channel, or the same one later, may do it: nothing was delivered. */
  readonly retriable: boolean;
  /** The words or images are at fault, not the service. */
  readonly askerAtFault: boolean;
  /** It has no room now, and will: no try is used up. */
  readonly busy: boolean;
  /**
   * What to hold against the channel: that it failed, that it takes no more now, or nothing, as
   * anybody could bring that about by what they ask for.
   */
  readonly against: 'failed' | 'full' | 'nothing';
  /** It had the order and gave nothing of use: it bills the same again where it is ordered again. */
  readonly taken: boolean;
  /** HTTP status; 0: there was none. */
  readonly status: number;
  constructor(
    codeName: CodeName,
    message: string,
    options: {
      retriable: boolean;
      askerAtFault?: boolean;
      busy?: boolean;
      against?: 'full' | 'nothing';
      taken?: boolean;
      status?: number;
      cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.codeName = codeName;
    this.retriable = options.retriable;
    this.askerAtFault = options.askerAtFault ?? false;
    this.busy = options.busy ?? false;
    this.against = options.against ?? (this.askerAtFault || this.busy ? 'nothing' : 'failed');
    this.taken = options.taken ?? false;
    this.status = options.status ?? 0;
  }
}

/**
 * How services of one kind are asked.
 * @param name what people call them, such as 画图服务; it stands in what they are told
 */
export const createWire = (name: string, Failure: typeof ServiceError) => {
  const slowService = (cause?: unknown): ServiceError =>
    new Failure('engine_timeout', `${name}太久没有回应，没有扣费，请重试`, {
      retriable: true,
      cause,
    });

  /** The service said or gave something that makes no sense. */
  const senselessReply = (cause?: unknown): ServiceError =>
    new Failure('engine_failed', `${name}的回答无法读取，没有扣费，请重试`, {
      retriable: true,
      taken: true,
      cause,
    });

  const unsuitable = (message: string): ServiceError =>
    new Failure('job_unsuitable', message, { retriable: false, askerAtFault: true });

  /** What a status that says no means for people; the service's own words never get there. */
  const refusedBy = (status: number): ServiceError => {
    const failed = (
      message: string,
      options: { retriable?: boolean; askerAtFault?: boolean; against?: 'full' } = {},
    ) =>
      new Failure('engine_failed', message, {
        retriable: true,
        ...options,
        status,
        cause: new Error(`the service answered ${status}`),
      });
    if (status === 401 || status === 403)
      return failed(`${name}没有接受本站的密钥，没有扣费，请联系管理员`);
    if (status === 429) return failed(`${name}繁忙，没有扣费，请稍后重试`, { against: 'full' });
    if (status === 402) return failed(`${name}的额度已用完，没有扣费，请换一个模型或联系管理员`);
    if (status === 404 || status === 405)
      return failed(`${name}没有这个功能或模型，没有扣费，请换一个`);
    if (status === 408 || status === 504) return slowService();
    if (status >= 300 && status < 400) return failed(`${name}的地址已更改，没有扣费，请联系管理员`);
    if (status >= 400 && status < 500)
      return failed(`${name}没有接受这次请求，没有扣费，请换一种写法`, {
        retriable: false,
        askerAtFault: true,
      });
    return failed(`${name}出错，没有扣费，请重试`);
  };

  /**
   * One question to a service, with limits of time and size. Gives the answer whatever its status.
   * @throws ServiceError engine_timeout, engine_failed; the signal's reason once it is aborted
   */
  const ask = async (url: URL, call: WireCall): Promise<WireReply> => {
    call.signal.throwIfAborted();
    const patience = call.patience ?? askPatience;
    const most = call.maxBytes ?? mostBytes.words;
    const over = timeLimit(patience.totalMs);
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: call.dispatcher ?? agent,
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
          if (statusCode === 200) call.onChunk?.(chunk);
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
      if (error instanceof ServiceError) throw error;
      const { code } = error as { code?: unknown };
      if (over.aborted || (typeof code === 'string' && timeouts.has(code)))
        throw slowService(error);
      throw new Failure('engine_failed', `连不上${name}，没有扣费，请稍后重试`, {
        retriable: true,
        cause: error,
      });
    }
  };

  return { ask, slowService, senselessReply, unsuitable, refusedBy };
};

/** The JSON in an answer; null: there is none. */
export const jsonOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return null;
  }
};
