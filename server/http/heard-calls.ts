import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ApiCaller, CallNote } from './open-handlers.ts';
import type { Sink } from './sink.ts';

/** Letters of an answer that are listened to. */
const heardAtMost = 100_000;

/** A request of the public API and what it was answered, until that is noted for its key's owner. */
export interface HeardCall {
  caller: ApiCaller;
  begun: number;
  /** Until the head of the answer, ms; 0: it came with its end. */
  firstMs: number;
  /** Empty: it was answered. */
  failure: string;
  body: unknown;
  answer: string;
}

const heards = new WeakMap<FastifyRequest, HeardCall>();

/** Listens to a request from now on. */
export const hear = (request: FastifyRequest, caller: ApiCaller): void => {
  const begun = performance.now();
  heards.set(request, { caller, begun, firstMs: 0, failure: '', answer: '', body: request.body });
};

/** What was heard of a request; undefined: nobody listens. */
export const heardOf = (request: FastifyRequest): HeardCall | undefined => heards.get(request);

/** ms since a time of `performance.now()`, whole. */
export const sinceMs = (begun: number): number => Math.round(performance.now() - begun);

/** Writes on, and listens where the key's owner wants answers kept. */
export const listening = (request: FastifyRequest, sink: Sink): Sink => {
  const heard = heards.get(request);
  if (!heard?.caller.logBodies) return sink;
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

/** What is noted of a request that has ended. */
export const noteOf = (
  { caller, begun, firstMs, failure: toldInStream, body, answer }: HeardCall,
  { path, status, failure }: { path: string; status: number; failure?: string },
): CallNote => {
  const ms = sinceMs(begun);
  const named = (body as { model?: unknown } | null | undefined)?.model;
  return {
    id: randomUUID(),
    caller,
    begunAt: new Date(Date.now() - ms),
    path,
    model: typeof named === 'string' ? named.slice(0, 200) : '',
    status,
    failure: (failure ?? toldInStream).slice(0, 500),
    firstMs: firstMs || ms,
    ms,
    request: caller.logBodies ? JSON.stringify(body ?? null) : null,
    answer: caller.logBodies ? answer : null,
  };
};
