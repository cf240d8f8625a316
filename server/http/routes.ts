import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import type { CallSpec } from '#contract/call.ts';
import { type AppName, calls } from '#contract/calls.ts';
import { answerFailure, errorEvent, explained } from './answer-failure.ts';
import { bytesOf, generalBodyLimit, mayBeLarge, mostOf, tooLong, untilClosed } from './body.ts';
import { authenticate, checkAccess, tokenInQuery } from './caller.ts';
import { refusalOf, statusOf } from './failure.ts';
import type { Identified } from './handlers.ts';
import type { HoldBytes } from './held-bytes.ts';
import {
  createByteLimit,
  createGuestLimit,
  createRateLimit,
  createStreamLimit,
  type StreamRoom,
} from './rate-limit.ts';
import { createChangeTurns } from './change-turns.ts';
import { createLoginWatch } from './login-watch.ts';
import { type CallDeps, createServe } from './serve-call.ts';

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

export interface RouteDeps extends CallDeps {
  limits: { general: number; credentials: number; guestUses: number };
}

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

/** Makes a route of every call: limit, authenticate, validate, check access, handle, present. */
export const registerCalls = (app: FastifyInstance, deps: RouteDeps): void => {
  const limit = createRateLimit(deps.limits);
  const limitGuest = createGuestLimit(deps.limits.guestUses);
  const limitBytes = createByteLimit();
  const openStream = createStreamLimit(app.streamRoom);
  const turns = createChangeTurns();
  const watchLogin = createLoginWatch(deps, app.log);
  app.decorateRequest('caller', null);
  app.decorateRequest('served', null);
  for (const [name, spec] of Object.entries(calls) as [AppName, CallSpec][]) {
    if (spec.kind === 'open') continue;
    const serve = createServe({ ...deps, limitGuest, openStream, watchLogin, turns }, name, spec);
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
