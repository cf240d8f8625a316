import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallSpec } from '#contract/call.ts';
import { Refusal } from './handlers.ts';
import { readJson, usualBounds } from './json-text.ts';

/** Most bytes of a body whose call names no more. */
export const generalBodyLimit = 256 * 1024;

/** Whether a request may bring more than is read before anybody looks who asks. */
export const mayBeLarge = ({ method, headers }: FastifyRequest): boolean =>
  method !== 'GET' && !(Number(headers['content-length']) <= generalBodyLimit);

/** Bytes that a request says its body has; one that does not say may have all that it may. */
export const bytesOf = ({ method, headers }: FastifyRequest, spec: CallSpec): number => {
  if (headers['content-length'] !== undefined) return Number(headers['content-length']);
  if (method === 'GET' || headers['transfer-encoding'] === undefined) return 0;
  return spec.maxBytes ?? generalBodyLimit;
};

/** Most bytes of what this caller sends; null: the route's own limit counts. */
export const mostOf = async (request: FastifyRequest, spec: CallSpec): Promise<number | null> => {
  if (spec.guestMaxBytes === null) return null;
  const caller = await request.caller;
  return caller === null || caller.identity.guest ? spec.guestMaxBytes : null;
};

export const tooLong = (most: number): Refusal =>
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

/** What was held for a request goes once its answer is sent, or its caller is gone. */
export const untilClosed = (reply: FastifyReply, release: () => void): void => {
  if (reply.raw.destroyed) release();
  else reply.raw.once('close', release);
};
