import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CallSpec } from '#contract/call.ts';
import { calls, type OpenName, type Parsed } from '#contract/calls.ts';
import type { Database, Executor } from '../db/database.ts';
import { refusalOf, statusOf } from './failure.ts';
import { reportFault } from './faults.ts';
import { type Identity, Refusal, type UploadedFile } from './handlers.ts';
import { originOf } from './origin.ts';
import { claimKey, type ClaimEnd, endClaim, findAnswer } from './idempotency.store.ts';
import { ApiRefusal, failureBody, sendApiFailure, statusIn } from './open-failure.ts';
import { openApiDocument, pathFieldOf } from './openapi.ts';
import {
  createAddressLimit,
  createByteLimit,
  createStreamLimit,
  type StreamLimit,
} from './rate-limit.ts';
import { bearerOf, bytesOf, generalBodyLimit, untilClosed } from './routes.ts';
import type { RunningCalls } from './running-calls.ts';
import { type Sink, sinkOf } from './sink.ts';
import { type From, fromOf } from './from.ts';
import { readInput } from './validate.ts';

/** Whose key a request of the public API carries. */
export interface ApiCaller {
  keyId: number;
  user: Identity;
  /** Models that the key may use; empty: all. */
  models: readonly string[];
  /** Tokens that the key may spend in a month; null: no limit of its own. */
  monthLimit: number | null;
  /** Whether the key has bounds of its own, and such of tokens as they are counted among them. */
  metered: boolean;
  countedBound: boolean;
  /** Tokens of one call, prompt and answer together; null: as the model has it. */
  callTokens: number | null;
  /** The number of the process that serves it. */
  instance: number;
  /** Its owner wants requests and answers kept with the log of calls. */
  logBodies: boolean;
  /** What the request used so far. */
  used: typeof nothingUsed;
  /** What its person's group pays of each price. */
  groupFactor: number;
  /** Part of the price that it pays; left out: all of it. */
  priceFactor?: number;
  /** Called in the transaction that pays for an answer, with the answer. */
  alongside?: (tx: Executor, json: unknown) => Promise<void>;
}

/** Tokens of a request as they are counted, and those that were taken for it. */
export const nothingUsed = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  deductTokens: 0,
};

/** What was asked and how it ended. */
export interface CallNote {
  id: string;
  caller: ApiCaller;
  begunAt: Date;
  path: string;
  model: string;
  status: number;
  /** Empty: it was answered. */
  failure: string;
  /** Until the head of the answer and until its end. */
  firstMs: number;
  ms: number;
  /** Null: they are not kept. */
  request: string | null;
  answer: string | null;
}

/** What the pipeline needs of the area of the keys. */
export interface KeyGate {
  /** @throws Refusal unauthorized, payment_required, forbidden, account_disabled */
  enter: (key: string, ip: string) => Promise<ApiCaller>;
  /** Counts a request; gives headers that tell how many are left. @throws Refusal too_many */
  count: (caller: ApiCaller) => Promise<Record<string, string>>;
  /** What the operator asks of whoever uses this; writes down that they do. @throws Refusal agreement_needed */
  allow: (caller: ApiCaller, call: string, from: From) => Promise<void>;
  /** Writes down what was asked, for the key's owner. */
  note: (call: CallNote) => void;
  /** Calls back once the key is valid no more; gives what to call when nobody needs to know. */
  watch: (caller: ApiCaller, onGone: () => void) => () => void;
}

export interface OpenContext {
  caller: ApiCaller;
  db: Database;
  requestId: string;
  log: FastifyBaseLogger;
  /** Aborted with a Refusal once the client has gone or the key is valid no more. */
  signal: AbortSignal;
  files: (UploadedFile & { field: string })[];
  /** Counts what is held for it beside its body. @throws Refusal too_many, unavailable */
  hold: (bytes: number) => void;
  /** Where the caller reaches this server, without a slash at the end. */
  origin: string;
  /** Adds a header to the answer. */
  header: (name: string, value: string) => void;
  /** A header of the request; empty: it has none. */
  asked: (name: string) => string;
}

/** Where the events of an answer go. */
export interface Events {
  sink: Sink;
  /** The frame that ends the stream with a failure. */
  failure: (refusal: Refusal) => string;
}

export type OpenAnswer =
  | { json: unknown }
  | { text: string; type: string }
  | { bytes: Buffer; type: string }
  /** Read as fast as the caller takes it. */
  | { stream: Readable; type: string }
  /** Writes events until it resolves; the head of the answer is sent. */
  | { events: (events: Events) => Promise<void> };

export type OpenHandlers = {
  [K in OpenName]: (input: Parsed<K>, context: OpenContext) => Promise<OpenAnswer>;
};

interface Deps {
  db: Database;
  /** The number of this process; see instances. */
  instanceId: number;
  gate: KeyGate;
  handlers: OpenHandlers;
  running: RunningCalls;
  /** Requests a minute and address that carry no valid key. */
  addressLimit: number;
  version: string;
  publicUrl: string;
}

const restarting = () => new ApiRefusal('unavailable', '服务器正在重启，请稍后重试');

/** Of a request that was let in. */
const callers = new WeakMap<FastifyRequest, ApiCaller>();

const allHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'retry-after, x-request-id, request-id, x-channel, x-deducted-tokens, x-price-yuan, x-ignored-fields, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens',
  'cache-control': 'no-store',
};

/** The fields and files of a multipart body. */
const readForm = async (request: FastifyRequest, spec: CallSpec) => {
  if (!request.isMultipart()) throw new Refusal('unsupported', '请用 multipart/form-data 上传');
  const fileSize = spec.maxBytes ?? generalBodyLimit;
  const fields: Record<string, unknown> = {};
  const files: OpenContext['files'] = [];
  try {
    const limits = { files: 8, fields: 40, fieldSize: 200_000, parts: 48, fileSize };
    for await (const part of request.parts({ limits })) {
      if (part.type === 'field') fields[part.fieldname] = part.value;
      else {
        if (!spec.files.includes(part.fieldname))
          throw new Refusal('bad_input', `${part.fieldname} 不是这个接口收的文件`);
        files.push({
          field: part.fieldname,
          name: part.filename.slice(0, 200),
          mime: part.mimetype,
          data: await part.toBuffer(),
        });
      }
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if ((error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE')
      throw new Refusal('too_large', `文件太大，最多 ${Math.floor(fileSize / 1024 / 1024)} MB`);
    throw new Refusal('bad_body', '上传的内容无法读取');
  }
  if (files.length === 0) throw new Refusal('bad_input', `${spec.files[0]}：请选择一个文件`);
  return { fields, files };
};

/** How long a body that is too large may go on coming, ms. */
const overflowMs = 5_000;

const sentWhole = ({ raw }: FastifyRequest): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, overflowMs);
    raw.once('close', resolve).once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    raw.resume();
  });

/** The number under which an answer is kept: the key's owner chose any text. */
const keptKey = (keyId: number, given: string): string => {
  const hash = createHash('sha256').update(`${keyId} ${given}`).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    hash.slice(12, 16),
    hash.slice(16, 20),
    hash.slice(20, 32),
  ].join('-');
};

const keyOf = (spec: CallSpec, request: FastifyRequest): string | null => {
  const given = request.headers['idempotency-key'];
  if (!spec.idempotent || typeof given !== 'string' || given === '') return null;
  if (given.length > 255) throw new Refusal('bad_input', '请求头 idempotency-key 太长');
  return given;
};

const contextOf = (
  { db, gate, publicUrl }: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: ApiCaller,
  gone: AbortController,
) => {
  const unwatch = gate.watch(caller, () =>
    gone.abort(new ApiRefusal('unauthorized', '这个 API-KEY 已被删除或停用')),
  );
  reply.raw.once('close', () => {
    unwatch();
    if (!reply.raw.writableFinished) gone.abort(new ApiRefusal('bad_body', '客户端已断开'));
  });
  return {
    caller,
    db,
    requestId: request.id,
    log: request.log,
    origin: originOf(request, publicUrl),
    signal: gone.signal,
    hold: (bytes: number) =>
      untilClosed(reply, request.server.holdBytes(bytes, caller.user, request.ip)),
    header: (name: string, value: string) => void reply.header(name, value),
    asked: (name: string) => String(request.headers[name] ?? ''),
  };
};

/** Letters of an answer that are listened to. */
const heardAtMost = 100_000;

/** What a request gave, until its end is noted. */
interface Heard {
  firstMs: number;
  failure: string;
  answer: string;
}
const heards = new WeakMap<FastifyRequest, Heard & { begun: number; body: unknown }>();

/** Writes on, and listens where the key's owner wants answers kept. */
const listening = (request: FastifyRequest, sink: Sink): Sink => {
  const heard = heards.get(request);
  if (!heard || callers.get(request)?.logBodies !== true) return sink;
  return {
    write: (frame) => {
      if (heard.answer.length < heardAtMost) heard.answer += frame;
      return sink.write(frame);
    },
    end: () => sink.end(),
    destroy: () => sink.destroy(),
    once: (event, listener) => sink.once(event, listener),
  };
};

const sinceMs = (begun: number): number => Math.round(performance.now() - begun);

const streamEvents = async (
  reply: FastifyReply,
  wire: CallSpec['wire'],
  write: (events: Events) => Promise<void>,
): Promise<void> => {
  reply.hijack();
  const response = reply.raw;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  response.on('error', () => response.destroy());
  const heard = heards.get(reply.request);
  if (heard) heard.firstMs = sinceMs(heard.begun);
  const failure = (refusal: Refusal): string => {
    if (heard) heard.failure = refusal.message;
    const body = failureBody(wire, refusal);
    if (wire === 'anthropic') return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
    const said = wire === 'openai' ? body : [body['code'], body['message']];
    return `data: ${JSON.stringify(said)}\n\n`;
  };
  try {
    await write({ sink: listening(reply.request, sinkOf(response)), failure });
    response.end();
  } catch (error) {
    reportFault(reply.request, error, 'a stream of the API broke');
    response.destroy();
  }
};

const send = (reply: FastifyReply, answer: Exclude<OpenAnswer, { events: unknown }>) => {
  const heard = heards.get(reply.request);
  const isText = 'json' in answer || 'text' in answer;
  if (heard && isText && callers.get(reply.request)?.logBodies === true)
    heard.answer = 'json' in answer ? JSON.stringify(answer.json) : answer.text;
  if ('json' in answer) return reply.send(answer.json);
  reply.type(answer.type);
  if ('stream' in answer) return reply.send(answer.stream);
  return reply.send('text' in answer ? answer.text : answer.bytes);
};

const createServe =
  (deps: Deps & { openStream: StreamLimit }, name: OpenName, spec: CallSpec) =>
  async (request: FastifyRequest, reply: FastifyReply, gone: AbortController): Promise<unknown> => {
    const { db, instanceId: claimedBy, handlers } = deps;
    const caller = callers.get(request);
    if (!caller) throw new Refusal('unauthorized');
    if (spec.method === 'POST') await deps.gate.allow(caller, name, fromOf(request));
    const isForm = spec.files.length > 0;
    if (!isForm && request.isMultipart()) throw new Refusal('unsupported');
    const { fields, files } = isForm
      ? await readForm(request, spec)
      : { fields: request.body, files: [] };
    const rest = (request.params as Record<string, string | undefined>)['*'];
    const query =
      rest === undefined
        ? request.query
        : { ...(request.query as object), [pathFieldOf(spec)]: rest };
    const input = readInput(spec, query, fields);
    const heard = heards.get(request);
    if (heard) heard.body = input;
    // Before anything is spent on it.
    if ((input as { stream?: unknown }).stream === true)
      reply.raw.once('close', deps.openStream(caller.user, request.ip, 'program'));
    const serve = handlers[name] as (input: unknown, context: OpenContext) => Promise<OpenAnswer>;
    const context = { ...contextOf(deps, request, reply, caller, gone), files };
    const key = keyOf(spec, request);
    if (key === null) {
      const answer = await serve(input, context);
      if (!('events' in answer)) return send(reply, answer);
      await streamEvents(reply, spec.wire, answer.events);
      return reply;
    }
    const place = { userId: caller.user.id, call: name, key: keptKey(caller.keyId, key) };
    const requestHash = createHash('sha256').update(JSON.stringify(input)).digest();
    if (!(await claimKey(db, place, { requestHash, claimedBy }))) {
      const kept = await findAnswer(db, place);
      if (kept && !kept.requestHash.equals(requestHash)) throw new Refusal('conflict');
      const answer = kept?.answer as { json: unknown } | null | undefined;
      if (answer) return send(reply.header('x-idempotent-replay', 'true'), answer);
      throw new Refusal(
        'conflict',
        '这个 idempotency-key 的请求正在进行，或已经以流的方式回答过（流不保存）',
      );
    }
    let end: ClaimEnd = 'failed';
    let answer: OpenAnswer;
    try {
      answer = await serve(input, context);
      end = 'json' in answer ? { answer } : 'not kept';
      if ('events' in answer) await streamEvents(reply, spec.wire, answer.events);
    } finally {
      await endClaim(db, place, { end, claimedBy });
    }
    return 'events' in answer ? reply : send(reply, answer);
  };

/**
 * Makes a route of every call under /v1: let in by an API key, validate, handle, answer bare. A
 * second pipeline beside that of the app's calls, from the same contract.
 */
export const registerOpenCalls = (app: FastifyInstance, deps: Deps): void => {
  const limitAddress = createAddressLimit(deps.addressLimit, 'programs of an address');
  const limitBytes = createByteLimit();
  const openStream = createStreamLimit(app.streamRoom);

  const noteEnd = (
    request: FastifyRequest,
    { path }: CallSpec,
    status: number,
    failure?: string,
  ): void => {
    const heard = heards.get(request);
    const caller = callers.get(request);
    if (!heard || !caller) return;
    const { begun, body, answer } = heard;
    const ms = sinceMs(begun);
    const named = (body as { model?: unknown } | null | undefined)?.model;
    deps.gate.note({
      id: randomUUID(),
      caller,
      begunAt: new Date(Date.now() - ms),
      path,
      model: typeof named === 'string' ? named.slice(0, 200) : '',
      status,
      failure: (failure ?? heard.failure).slice(0, 500),
      firstMs: heard.firstMs || ms,
      ms,
      request: caller.logBodies ? JSON.stringify(body ?? null) : null,
      answer: caller.logBodies ? answer : null,
    });
  };

  const enter = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // Anthropic's clients have a header of their own.
    const own = request.headers['x-api-key'];
    const key = bearerOf(request) ?? (typeof own === 'string' && own !== '' ? own : null);
    try {
      if (key === null)
        throw new Refusal(
          'unauthorized',
          '请在请求头 authorization 里带上 Bearer 和 API-KEY，或在 x-api-key 里带上 API-KEY',
        );
      callers.set(request, await deps.gate.enter(key, request.ip));
    } catch (error) {
      if (error instanceof Refusal && error.codeName === 'unauthorized')
        await limitAddress(request.ip);
      throw error;
    }
    const caller = callers.get(request);
    if (caller) reply.headers(await deps.gate.count(caller));
  };

  for (const [name, spec] of Object.entries(calls) as [OpenName, CallSpec][]) {
    if (spec.kind !== 'open') continue;
    const serve = createServe({ ...deps, openStream }, name, spec);
    const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      const refusal = refusalOf(error);
      if (statusOf(refusal) >= 500) reportFault(request, error, refusal.codeName);
      if (reply.sent || reply.raw.headersSent) {
        reply.raw.destroy();
        return reply;
      }
      return sendApiFailure(reply, spec.wire, refusal);
    };
    /** A client that is cut off while it sends never learns why. */
    const failEarly = async (...given: Parameters<typeof fail>): Promise<void> => {
      const [error, request] = given;
      if (refusalOf(error).codeName === 'too_large') await sentWhole(request);
      fail(...given);
    };
    app.route({
      method: spec.method,
      url: spec.path,
      exposeHeadRoute: false,
      config: { spec, call: name },
      bodyLimit: spec.maxBytes ?? generalBodyLimit,
      errorHandler: (error, request, reply) => void failEarly(error, request, reply),
      onRequest: async (request, reply) => {
        reply.headers(allHeaders);
        if (spec.wire === 'anthropic') reply.header('request-id', request.id);
        // Nobody makes the server take a large body for nothing.
        await enter(request, reply);
        const user = callers.get(request)?.user ?? null;
        const bytes = bytesOf(request, spec);
        await limitBytes(bytes, request.ip, user);
        untilClosed(reply, app.holdBytes(bytes, user, request.ip));
      },
      handler: async (request, reply) => {
        const gone = new AbortController();
        if (spec.method === 'POST')
          heards.set(request, {
            begun: performance.now(),
            firstMs: 0,
            failure: '',
            answer: '',
            body: request.body,
          });
        try {
          const served = await deps.running.keep(serve(request, reply, gone), () =>
            gone.abort(restarting()),
          );
          noteEnd(request, spec, 200);
          return served;
        } catch (error) {
          const refusal = refusalOf(error);
          noteEnd(request, spec, statusIn(refusal), refusal.message);
          return fail(error, request, reply);
        }
      },
    });
  }

  app.options('/v1/*', (_request, reply) =>
    reply
      .headers({
        ...allHeaders,
        'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
        'access-control-allow-headers': '*, authorization',
        'access-control-max-age': '86400',
      })
      .code(204)
      .send(),
  );
  let document: string | undefined;
  app.get('/v1/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(deps.version, deps.publicUrl, 'open'));
    return reply.headers(allHeaders).type('application/json; charset=utf-8').send(document);
  });
  const missing = (_request: FastifyRequest, reply: FastifyReply) =>
    sendApiFailure(
      reply.headers(allHeaders),
      'openai',
      new ApiRefusal('not_found', '没有这个接口，接口列表见 /api?tab=interface', {
        code: 'unknown_url',
      }),
    );
  app.route({ method: ['GET', 'POST', 'DELETE'], url: '/v1/*', handler: missing });
};
