import type { FastifyReply, FastifyRequest } from 'fastify';
import { codes } from '#contract/errors.ts';
import type { Database } from '../db/database.ts';
import { bearerOf, checkAccess } from './caller.ts';
import { refusalOf, statusOf } from './failure.ts';
import { reportFault } from './faults.ts';
import { type Authenticator, Refusal } from './handlers.ts';

const loginUrl = '/login';

/** Replies a refusal in the envelope of the app's calls. */
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

/** A refusal as the one event of a stream. */
export const errorEvent = ({ codeName, message }: Refusal): string =>
  `data: ${JSON.stringify({ code: String(codes[codeName].code), message })}\n\n`;

/**
 * Replies whatever went wrong, in the envelope unless `send` says otherwise; what already began to
 * stream is cut off.
 */
export const answerFailure = (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  send: (reply: FastifyReply, refusal: Refusal) => FastifyReply = sendRefusal,
): FastifyReply => {
  const refusal = refusalOf(error);
  if (statusOf(refusal) >= 500) reportFault(request, error, refusal.codeName);
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return reply;
  }
  return send(reply, refusal);
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

/**
 * A call that visitors may make serves a login that has ended as nobody's, and may refuse that: the
 * refusal then says what ended the login.
 */
export const explained = async (
  { db, auth }: { db: Database; auth: Authenticator },
  error: unknown,
  request: FastifyRequest,
): Promise<unknown> => {
  const token = bearerOf(request);
  const plain = error instanceof Refusal && error.message === codes.unauthorized.text;
  if (token === null || !plain || (await request.caller) !== null) return error;
  return new Refusal('unauthorized', await auth.whyEnded(db, token));
};
