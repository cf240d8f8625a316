import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import * as z from 'zod/mini';
import type { CallSpec } from '#contract/call.ts';
import { type AppName, calls } from '#contract/calls.ts';
import { codes } from '#contract/errors.ts';
import type { Database, Executor } from '../db/database.ts';
import { committing } from '../db/in-transaction.ts';
import { refusalOf, statusOf } from './failure.ts';
import {
  type Authenticator,
  type ActNote,
  type Context,
  type Handlers,
  type Identified,
  type Identity,
  type ManagerAct,
  Refusal,
  type UploadedFile,
} from './handlers.ts';
import { reportFault } from './faults.ts';
import { findAnswer, keepAnswer } from './idempotency.store.ts';
import { readJson, usualBounds } from './json-text.ts';
import { type Done, fromOf } from './from.ts';
import { carry, deviceOf } from './minor-device.ts';
import type { HoldBytes } from './held-bytes.ts';
import { originOf } from './origin.ts';
import { whyOutside } from './outside.ts';
import {
  createByteLimit,
  createGuestLimit,
  createRateLimit,
  createStreamLimit,
  type StreamRoom,
  type StreamLimit,
} from './rate-limit.ts';
import { hashOf, keepable, onceClaimed } from './repeats.ts';
import { readForm, readUpload, type Whole } from './upload.ts';
import { readInput } from './validate.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Of all streams of events of this process, whatever asks for them. */
    streamRoom: StreamRoom;
    holdBytes: HoldBytes;
  }
  interface FastifyContextConfig {
    /** The call that the route serves, and its name. */
    spec?: CallSpec;
    call?: string;
    /** The body is handed on as text. */
    textBody?: boolean;
  }
  interface FastifyRequest {
    /** Who asks; fails with the refusal of those who may not. Null where it is no call. */
    caller: Promise<Identified | null> | null;
    /** ms until its handler was done; null: as long as the answer took. */
    served: number | null;
  }
}

export interface RouteDeps {
  db: Database;
  /** The number of this process; see instances. */
  instanceId: number;
  auth: Authenticator;
  handlers: Handlers;
  /** Where people reach this server; empty: where the request came to. */
  publicUrl: string;
  limits: { general: number; credentials: number; guestUses: number };
  /** Refuses what would be kept while the disk is nearly full. @throws Refusal storage_full */
  requireDisk: (user: { guest: boolean } | null) => Promise<void>;
  /** The bytes of a person's file that came in pieces. @throws Refusal not_found, too_large */
  wholeUpload: (db: Executor, id: string, bytes: number, user: Identity) => Promise<Buffer>;
  /**
   * What the operator asks of whoever changes something, and of minors whatever they do.
   * @param user null: nobody
   * @param asked.device what the browser carries since a minor's account was used in it
   * @returns what it is to carry from now on; null: nothing more
   * @throws Refusal agreement_needed, minor_limited
   */
  allow: (
    db: Executor,
    user: Identity | null,
    asked: { call: string; input: Record<string, unknown>; device: string | null },
  ) => Promise<string | null>;
  /** Writes down that somebody changed something, in the transaction in which it was done. */
  record: (db: Executor, done: Done) => Promise<void>;
  /** Writes down what a manager did, in the transaction in which it was done. */
  keepAct: (db: Executor, act: ManagerAct) => Promise<void>;
}

type AnyHandler = (input: unknown, context: Context) => Promise<unknown>;
type AnySlowHandler = (
  input: unknown,
  context: Context,
) => Promise<(db: Executor) => Promise<unknown>>;
type Acts = (() => void | Promise<void>)[];

export const generalBodyLimit = 256 * 1024;

const loginUrl = '/login';

/** How soon an open stream notices that its reader has signed out, ms. */
const lookAgainMs = 5_000;

export const sendRefusal = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
  const { codeName, message } = refusal;
  let { data } = refusal;
  if (codeName === 'login_required') data = { login_url: loginUrl };
  const { retry_after: told } = (data ?? {}) as { retry_after?: number };
  if (codeName === 'too_many' || (codeName === 'unavailable' && told !== undefined)) {
    reply.header('retry-after', String(told ?? 60));
    data = null;
  }
  if (codeName === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  return reply.code(statusOf(refusal)).send({ code: codes[codeName].code, message, data });
};

/** The token or key that a request carries. */
export const bearerOf = (request: FastifyRequest): string | null => {
  const header = request.headers.authorization;
  const match = header === undefined ? null : /^Bearer +(\S+)$/i.exec(header);
  return match?.[1] ?? null;
};

const ticketOf = (request: FastifyRequest): string | null => {
  const { ticket } = request.query as { ticket?: unknown };
  return typeof ticket === 'string' && ticket !== '' ? ticket : null;
};

/** The reply whose stream is asked for. */
const replyOf = (spec: CallSpec, request: FastifyRequest): number | null => {
  const { history_id: historyId } = request.query as { history_id?: unknown };
  const id = spec.kind === 'stream' ? Number(historyId) : NaN;
  return Number.isSafeInteger(id) ? id : null;
};

/**
 * The login in the address, as the specification has it of uploads and streams: an EventSource and
 * an upload field set no header. Addresses are logged without their query.
 */
const tokenInQuery = (spec: CallSpec, request: FastifyRequest): string | null => {
  if (spec.kind !== 'upload' && spec.kind !== 'stream') return null;
  const { token } = request.query as { token?: unknown };
  return typeof token === 'string' && token !== '' ? token : null;
};

const idempotencyKey = z.uuid();

const keyOf = (spec: CallSpec, request: FastifyRequest): string | null => {
  const header = request.headers['idempotency-key'];
  if (!spec.idempotent || header === undefined) return null;
  const key = z.safeParse(idempotencyKey, header);
  if (!key.success) throw new Refusal('bad_input', '请求头 idempotency-key 应为 UUID');
  return key.data.toLowerCase();
};

/** To everyone else they do not exist. */
const forManagers = ({ access }: CallSpec): boolean => access === 'manager' || access === 'owner';

const authenticate = async (
  { db, auth }: RouteDeps,
  spec: CallSpec,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Identified | null> => {
  const token = bearerOf(request) ?? tokenInQuery(spec, request);
  const ticket = spec.kind !== 'call' && token === null ? ticketOf(request) : null;
  let caller: Identified | null = null;
  if (token !== null) caller = await auth.identify(db, token);
  else if (ticket !== null) {
    caller = await auth.redeemTicket(db, ticket, replyOf(spec, request));
    if (caller === null) throw new Refusal('unauthorized', '链接已失效，请重试');
  }
  if (caller?.refreshed) reply.header('authorization', `Bearer ${caller.refreshed}`);
  if (caller !== null || spec.access === 'public') return caller;
  throw token === null
    ? new Refusal('unauthorized')
    : new Refusal('unauthorized', await auth.whyEnded(db, token));
};

/** Who the handler serves; a disabled account counts as nobody where it is served at all. */
const checkAccess = (spec: CallSpec, caller: Identified | null): Context['user'] => {
  if (caller === null) return null;
  const { identity } = caller;
  if (forManagers(spec) && (!identity.manager || caller.disabled)) throw new Refusal('not_found');
  if (spec.access === 'owner' && !identity.owner) throw new Refusal('not_found');
  const reads = spec.method === 'GET' || spec === (calls.adminOrderList as CallSpec);
  if (identity.auditor && forManagers(spec) && !reads)
    throw new Refusal('forbidden', '您是审计员，只能查看，不能更改');
  if (caller.disabled) {
    if (spec.forDisabled) return null;
    throw new Refusal('account_disabled');
  }
  if (spec.access === 'user' && identity.guest) throw new Refusal('login_required');
  // What managers may do by everybody's calls is no auditor's.
  return identity.auditor && !forManagers(spec) ? { ...identity, manager: false } : identity;
};

/** Whatever is asked to see it, it is one way of opening it. */
const opening =
  (keepAct: RouteDeps['keepAct'], userId: number, ip: string): NonNullable<Identity['opens']> =>
  (db, what) =>
    keepAct(db, { ...what, userId, ip, call: 'getSession', input: {}, hourly: true });

/** The answer as the contract has it: what it does not name is left out. */
const present = (spec: CallSpec, answer: unknown): unknown => z.parse(spec.output, answer);

/** A stream goes on for long: it ends soon after its reader has signed out or was disabled. */
const endWithLogin = (
  { db, auth }: Pick<RouteDeps, 'db' | 'auth'>,
  jti: string,
  { log }: FastifyRequest,
  { raw }: FastifyReply,
): void => {
  const look = async () => {
    try {
      if (!(await auth.isSignedIn(db, jti))) raw.destroy();
    } catch (error) {
      log.warn({ err: error }, 'a login cannot be looked at for now');
    }
  };
  const timer = setInterval(() => void look(), lookAgainMs).unref();
  raw.once('close', () => clearInterval(timer));
};

/** What the routes count together. */
interface ServeLimits {
  limitGuest: (userId: number, ip: string) => Promise<void>;
  openStream: StreamLimit;
}

const createServe =
  (
    {
      db,
      instanceId,
      auth,
      handlers,
      allow,
      record,
      keepAct,
      requireDisk,
      wholeUpload,
      publicUrl,
    }: RouteDeps,
    { limitGuest, openStream }: ServeLimits,
    name: AppName,
    spec: CallSpec,
  ) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    let file: UploadedFile | null = null;
    let files: Record<string, UploadedFile> = {};
    let query = request.query;
    // Who may not ask learns nothing of what is wrong with what they sent.
    const found = checkAccess(spec, await request.caller);
    const user = found?.manager
      ? { ...found, opens: opening(keepAct, found.id, request.ip) }
      : found;
    if (spec.kind !== 'upload' && request.isMultipart()) throw new Refusal('unsupported');
    if (spec.kind === 'upload' && spec.effect !== 'none') await requireDisk(user);
    const whole: Whole = async (id, bytes) => {
      if (!user) throw new Refusal('unauthorized');
      const data = await wholeUpload(db, id, bytes, user);
      untilClosed(reply, request.server.holdBytes(data.length, user, request.ip));
      return data;
    };
    if (spec.fieldsInBody) {
      const form = await readForm(request, spec, whole);
      ({ file, files } = form);
      query = { ...(query as object), ...form.fields };
    }
    const input = readInput(spec, query, spec.kind === 'upload' ? undefined : request.body);
    const device = deviceOf(request);
    if ((user || device) && (spec.method !== 'GET' || user?.minor) && !forManagers(spec)) {
      const asked = { call: name, input: input as Record<string, unknown>, device };
      const carried = await allow(db, user, asked);
      if (carried !== null && carried !== device) carry(request, reply, carried);
    }
    if (user && spec.confirm !== 'no') {
      const { password } = input as { password?: string };
      await auth.confirm(spec.confirm, password, { user, ip: request.ip, log: request.log });
    }
    const key = keyOf(spec, request);
    const acts: Acts = [];
    const agent = (request.headers['user-agent'] ?? '').slice(0, 300);
    let token: { value: string; userId: number } | null = null;
    let noted: ActNote | null = null;
    let actKept = false;
    const isAct = user !== null && forManagers(spec) && spec.method !== 'GET' && spec.logged;

    const recordDone = async (executor: Executor, answer: unknown) => {
      const entered = answer as { profile?: { id: number }; error?: string } | null;
      const userId = entered?.profile?.id ?? token?.userId ?? user?.id;
      // A sign-in that failed says so in `error`.
      if (spec.method === 'GET' || userId === undefined || entered?.error) return;
      const from = fromOf(request);
      await record(executor, { userId, call: name, byKey: false, input, answer, from });
    };

    const counts = user?.guest && spec.countsForGuests(input as Record<string, unknown>);
    const countUse = async () => {
      if (counts) await limitGuest(user.id, request.ip);
    };

    const contextOn = (executor: Executor): Context => ({
      user,
      db: executor,
      ip: request.ip,
      host: request.hostname,
      outside: () => whyOutside(request),
      origin: originOf(request, publicUrl),
      agent,
      requestId: request.id,
      log: request.log,
      issueToken: async (userId) => {
        const value = await auth.issueToken(executor, userId, agent);
        if (value === null) throw new Refusal('account_disabled');
        token = { value, userId };
        return value;
      },
      repeated: null,
      afterCommit: (act) => void acts.push(act),
      noteAct: (act) => {
        noted = act;
      },
      keepAct: async (tx, act) => {
        if (!user) return;
        await keepAct(tx, { ...act, userId: user.id, call: name, input, ip: request.ip });
        actKept = true;
      },
    });

    if (spec.kind === 'stream' || spec.kind === 'download') {
      const serve = handlers[name] as (input: unknown, context: object) => Promise<void>;
      if (spec.kind === 'stream') {
        reply.raw.once('close', openStream(user, request.ip));
        if (user) endWithLogin({ db, auth }, user.jti, request, reply);
      }
      await countUse();
      await recordDone(db, null);
      await serve(input, { ...contextOn(db), request, reply });
      return reply;
    }

    if (spec.kind === 'upload' && !spec.fieldsInBody) file = await readUpload(request, spec, whole);
    const place = key === null ? null : { userId: user?.id ?? 0, call: name, key };
    // Others' keys are found taken when their answer is kept; a guest may have asked as nobody.
    const mayBeKept = place && !spec.claimsKey && (user === null || user.guest || spec.slow);
    const kept = mayBeKept ? await findAnswer(db, place) : null;
    if (!kept && !spec.claimsKey) await countUse();
    let finish = (executor: Executor) => (handlers[name] as AnyHandler)(input, contextOn(executor));
    const doSlowPart = async () => {
      if (!spec.slow) return;
      finish = await (handlers[name] as unknown as AnySlowHandler)(input, {
        ...contextOn(db),
        ...(file && { file }),
        ...(spec.kind === 'upload' && { files }),
      });
    };
    if (!kept && !spec.claimsKey) await doSlowPart();
    const answerOn = async (executor: Executor) => {
      const answer = present(spec, await finish(executor));
      await recordDone(executor, answer);
      if (isAct && !actKept)
        await keepAct(executor, { ...noted, userId: user.id, call: name, input, ip: request.ip });
      return answer;
    };
    let data: unknown;
    const requestHash = place ? hashOf(spec, request, input, file) : Buffer.alloc(0);
    if (spec.claimsKey) {
      const work = async () => {
        await countUse();
        await doSlowPart();
        return answerOn(db);
      };
      const claim = place && { place, requestHash, claimedBy: instanceId };
      data = await (claim ? onceClaimed(db, claim, work) : work());
    } else if (!spec.idempotent) data = isAct ? await db.transaction(answerOn) : await answerOn(db);
    else if (place === null) data = await db.transaction(answerOn);
    else {
      let replayed = kept;
      try {
        if (!kept)
          data = await committing(db, async (tx) => {
            const answer = await answerOn(tx);
            const tokenUserId = token?.userId ?? null;
            return async () => {
              const kept = keepable(spec, answer);
              await keepAnswer(tx, place, { requestHash, answer: kept, tokenUserId });
              return answer;
            };
          });
      } catch (error) {
        // A request with this key may have been answered before, or meanwhile by somebody else.
        replayed = await findAnswer(db, place).catch(() => null);
        if (replayed === null) throw error;
        acts.length = 0;
        token = null;
      }
      if (replayed !== null) {
        if (!replayed.requestHash.equals(requestHash)) throw new Refusal('conflict');
        // PostgreSQL gives the fields of a JSON value in an order of its own.
        const { answer } = replayed;
        const again = { ...contextOn(db), repeated: answer };
        data = present(
          spec,
          spec.secrets.length > 0 ? await (handlers[name] as AnyHandler)(input, again) : answer,
        );
        if (replayed.tokenUserId !== null && user === null) {
          const value = await auth.issueAgain(db, replayed.tokenUserId, agent);
          if (value !== null) token = { value, userId: replayed.tokenUserId };
        }
      }
    }
    for (const act of acts) {
      try {
        await act();
      } catch (error) {
        request.log.error({ err: error, call: name }, 'after the commit');
      }
    }
    // TypeScript does not see the assignment inside issueToken.
    const issued = token as { value: string } | null;
    if (issued !== null) reply.header('authorization', `Bearer ${issued.value}`);
    return { code: 0, message: '', data };
  };

/** A refusal as the one event of a stream. */
const errorEvent = ({ codeName, message }: Refusal): string =>
  `data: ${JSON.stringify({ code: String(codes[codeName].code), message })}\n\n`;

/** Replies whatever went wrong with the envelope; what already began to stream is cut off. */
export const answerFailure = (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  const refusal = refusalOf(error);
  if (statusOf(refusal) >= 500) reportFault(request, error, refusal.codeName);
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return reply;
  }
  return sendRefusal(reply, refusal);
};

/** The same for what failed before the call, such as its body: whoever may not ask learns that alone. */
export const answerEarlyFailure = async (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  try {
    const caller = (await request.caller) ?? null;
    if (request.routeOptions.config.spec) checkAccess(request.routeOptions.config.spec, caller);
  } catch (refusal) {
    return answerFailure(refusal, request, reply);
  }
  return answerFailure(error, request, reply);
};

/** Lets a browser ask whether a page of another address may make this call. */
const allowPreflight = (app: FastifyInstance, spec: CallSpec): void => {
  app.options(spec.path, (_request, reply) =>
    reply
      .headers({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': spec.method,
        // A login is for this address alone: from another page comes a ticket.
        'access-control-allow-headers': 'last-event-id',
        'access-control-max-age': '86400',
      })
      .code(204)
      .send(),
  );
};

const mayBeLarge = ({ method, headers }: FastifyRequest): boolean =>
  method !== 'GET' && !(Number(headers['content-length']) <= generalBodyLimit);

/** Bytes that a request says its body has; one that does not say may have all that it may. */
export const bytesOf = ({ method, headers }: FastifyRequest, spec: CallSpec): number => {
  if (headers['content-length'] !== undefined) return Number(headers['content-length']);
  if (method === 'GET' || headers['transfer-encoding'] === undefined) return 0;
  return spec.maxBytes ?? generalBodyLimit;
};

/** Most bytes of what this caller sends; null: the route's own limit counts. */
const mostOf = async (request: FastifyRequest, spec: CallSpec): Promise<number | null> => {
  if (spec.guestMaxBytes === null) return null;
  const caller = await request.caller;
  return caller === null || caller.identity.guest ? spec.guestMaxBytes : null;
};

const tooLong = (most: number): Refusal =>
  new Refusal('too_large', `内容过大，登录之前最多 ${most / 1024 / 1024} MB`);

/**
 * The body of a call: undefined where it is empty, its text where the call takes that, else what
 * its JSON says. @throws Refusal bad_body, too_large
 */
export const readBody = async (
  request: FastifyRequest,
  body: Buffer | string,
): Promise<unknown> => {
  if (body.length === 0) return undefined;
  const { spec, textBody } = request.routeOptions.config;
  const most = spec ? await mostOf(request, spec) : null;
  if (most !== null && body.length > most) throw tooLong(most);
  if (textBody) return body.toString();
  try {
    return readJson(body, { ...usualBounds, ...(spec?.maxParts && { parts: spec.maxParts }) });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('bad_body', '请求内容不是有效的 JSON');
  }
};

/**
 * A call that visitors may make serves a login that has ended as nobody's, and may refuse that: the
 * refusal then says what ended the login.
 */
const explained = async (
  { db, auth }: Pick<RouteDeps, 'db' | 'auth'>,
  error: unknown,
  request: FastifyRequest,
): Promise<unknown> => {
  const token = bearerOf(request);
  const plain = error instanceof Refusal && error.message === codes.unauthorized.text;
  if (token === null || !plain || (await request.caller) !== null) return error;
  return new Refusal('unauthorized', await auth.whyEnded(db, token));
};

/** What was held for a request goes once its answer is sent, or its caller is gone. */
export const untilClosed = (reply: FastifyReply, release: () => void): void => {
  if (reply.raw.destroyed) release();
  else reply.raw.once('close', release);
};

/** Makes a route of every call: limit, authenticate, validate, check access, handle, present. */
export const registerCalls = (app: FastifyInstance, deps: RouteDeps): void => {
  const limit = createRateLimit(deps.limits);
  const limitGuest = createGuestLimit(deps.limits.guestUses);
  const limitBytes = createByteLimit();
  const openStream = createStreamLimit(app.streamRoom);
  app.decorateRequest('caller', null);
  app.decorateRequest('served', null);
  for (const [name, spec] of Object.entries(calls) as [AppName, CallSpec][]) {
    if (spec.kind === 'open') continue;
    const serve = createServe(deps, { limitGuest, openStream }, name, spec);
    const handler: RouteHandlerMethod = async (request, reply) => {
      const begun = performance.now();
      try {
        return await serve(request, reply);
      } catch (failure) {
        const error = await explained(deps, failure, request).catch(() => failure);
        const refusal = refusalOf(error);
        // An EventSource, whose login stands in the address, learns of events alone.
        if (
          spec.kind === 'stream' &&
          tokenInQuery(spec, request) !== null &&
          !reply.raw.headersSent &&
          statusOf(refusal) === 200
        )
          return reply.type('text/event-stream; charset=utf-8').send(errorEvent(refusal));
        return answerFailure(error, request, reply);
      } finally {
        request.served = performance.now() - begun;
      }
    };
    if (spec.crossOrigin) allowPreflight(app, spec);
    app.route({
      method: spec.method,
      url: spec.path,
      // A HEAD of a stream would read it.
      exposeHeadRoute: spec.kind === 'call',
      config: { spec, call: name, textBody: spec.textBody !== null },
      bodyLimit: spec.maxBytes ?? generalBodyLimit,
      onRequest: async (request, reply) => {
        if (spec.crossOrigin) reply.header('access-control-allow-origin', '*');
        await limit(spec, request.ip);
        request.caller = authenticate(deps, spec, request, reply);
        request.caller.catch(() => undefined);
        // A small body is read meanwhile; nobody makes the server take a large one for nothing.
        if (!mayBeLarge(request)) return;
        const identified = await request.caller;
        checkAccess(spec, identified);
        const bytes = bytesOf(request, spec);
        const most = await mostOf(request, spec);
        if (most !== null && Number(request.headers['content-length']) > most) throw tooLong(most);
        const user = identified?.identity ?? null;
        await limitBytes(bytes, request.ip, user);
        untilClosed(reply, app.holdBytes(bytes, user, request.ip));
      },
      preValidation: async (request) => {
        const caller = await request.caller;
        if (mayBeLarge(request)) return;
        await limitBytes(bytesOf(request, spec), request.ip, caller?.identity ?? null);
      },
      handler,
    });
  }
};
