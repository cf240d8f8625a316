import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CallSpec } from '#contract/call.ts';
import { calls, type OpenName } from '#contract/calls.ts';
import { answerFailure } from './answer-failure.ts';
import { bytesOf, generalBodyLimit, untilClosed } from './body.ts';
import { bearerOf } from './caller.ts';
import { refusalOf } from './failure.ts';
import { Refusal } from './handlers.ts';
import { hear, heardOf, noteOf } from './heard-calls.ts';
import { ApiRefusal, sendApiFailure, statusIn } from './open-failure.ts';
import type { ApiCaller } from './open-handlers.ts';
import { openApiDocument } from './openapi.ts';
import { createPackedDocument } from './packed-document.ts';
import { createAddressLimit, createByteLimit, createStreamLimit } from './rate-limit.ts';
import type { RunningCalls } from './running-calls.ts';
import { createServe, type OpenCallDeps } from './serve-open-call.ts';

interface Deps extends OpenCallDeps {
  running: RunningCalls;
  /** Requests a minute and address that carry no valid key. */
  addressLimit: number;
  version: string;
}

const restarting = () => new ApiRefusal('unavailable', '服务器正在重启，请稍后重试');

/** Of a request that was let in. */
const callers = new WeakMap<FastifyRequest, ApiCaller>();

const allHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'retry-after, x-request-id, request-id, x-channel, x-deducted-tokens, x-price-yuan, x-ignored-fields, x-adjusted-fields, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens',
  'cache-control': 'no-store',
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

/** The API key that a request carries. @throws Refusal unauthorized */
const givenKey = (request: FastifyRequest): string => {
  // Anthropic's clients have a header of their own.
  const own = request.headers['x-api-key'];
  const key = bearerOf(request) ?? (typeof own === 'string' && own !== '' ? own : null);
  if (key !== null) return key;
  throw new Refusal(
    'unauthorized',
    '请在请求头 authorization 里带上 Bearer 和 API-KEY，或在 x-api-key 里带上 API-KEY',
  );
};

/** As answerFailure, in the words of a call's wire. */
const answerOpenFailure = (
  { wire }: CallSpec,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply =>
  answerFailure(error, request, reply, (to, refusal) => sendApiFailure(to, wire, refusal));

/** What is said under /v1 beside the calls: to browsers that ask first, of the calls, of what is none. */
const registerRest = (app: FastifyInstance, { version, publicUrl }: Deps): void => {
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
  const sendDocument = createPackedDocument(() => openApiDocument(version, publicUrl, 'open'));
  app.get('/v1/openapi.json', (request, reply) => sendDocument(request, reply.headers(allHeaders)));
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

/**
 * Makes a route of every call under /v1: let in by an API key, validate, handle, answer bare. A
 * second pipeline beside that of the app's calls, from the same contract.
 */
export const registerOpenCalls = (app: FastifyInstance, deps: Deps): void => {
  const limitAddress = createAddressLimit(deps.addressLimit, 'programs of an address');
  const limitBytes = createByteLimit();
  const openStream = createStreamLimit(app.streamRoom);

  const note = (request: FastifyRequest, ended: Parameters<typeof noteOf>[1]): void => {
    const heard = heardOf(request);
    if (heard) deps.gate.note(noteOf(heard, ended));
  };

  const enter = async (request: FastifyRequest, reply: FastifyReply): Promise<ApiCaller> => {
    try {
      const caller = await deps.gate.enter(givenKey(request), request.ip);
      callers.set(request, caller);
      reply.headers(await deps.gate.count(caller));
      return caller;
    } catch (error) {
      if (error instanceof Refusal && error.codeName === 'unauthorized')
        await limitAddress(request.ip);
      throw error;
    }
  };

  for (const [name, spec] of Object.entries(calls) as [OpenName, CallSpec][]) {
    if (spec.kind !== 'open') continue;
    const serve = createServe({ ...deps, openStream }, name, spec);
    /** A client that is cut off while it sends never learns why. */
    const failEarly = async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      if (refusalOf(error).codeName === 'too_large') await sentWhole(request);
      answerOpenFailure(spec, error, request, reply);
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
        const { user } = await enter(request, reply);
        const bytes = bytesOf(request, spec);
        await limitBytes(bytes, request.ip, user);
        untilClosed(reply, app.holdBytes(bytes, user, request.ip));
      },
      handler: async (request, reply) => {
        const gone = new AbortController();
        try {
          const caller = callers.get(request);
          if (!caller) throw new Refusal('unauthorized');
          if (spec.method === 'POST') hear(request, caller);
          const served = await deps.running.keep(serve(request, reply, { caller, gone }), () =>
            gone.abort(restarting()),
          );
          note(request, { path: spec.path, status: 200 });
          return served;
        } catch (error) {
          const refusal = refusalOf(error);
          note(request, { path: spec.path, status: statusIn(refusal), failure: refusal.message });
          return answerOpenFailure(spec, error, request, reply);
        }
      },
    });
  }
  registerRest(app, deps);
};
