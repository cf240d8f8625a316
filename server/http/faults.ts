import type { FastifyReply, FastifyRequest } from 'fastify';

/** Requests that failed by a fault of ours. */
const faulty = new WeakSet<FastifyRequest>();

/** The path without the query, which may hold a ticket. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '';

/** Writes a request's failure into the log, and counts it among the errors. */
export const reportFault = (request: FastifyRequest, error: unknown, what: string): void => {
  const path = pathOf(request);
  // Whoever hung up breaks what was under way: that is no fault of ours.
  if (request.raw.socket.destroyed) {
    request.log.info({ path }, 'the caller hung up');
    return;
  }
  request.log.error({ err: error, path }, what);
  faulty.add(request);
};

/** What figures count a request as: 5xx is what the log tells as a fault, and nothing else. */
export const countedStatus = (request: FastifyRequest, reply: FastifyReply): number => {
  const { statusCode } = reply;
  if (faulty.has(request)) return Math.max(500, statusCode);
  return statusCode >= 500 ? 499 : statusCode;
};
