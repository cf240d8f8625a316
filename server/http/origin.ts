import type { FastifyRequest } from 'fastify';

/**
 * Where people reach this server, without a slash at the end: PUBLIC_URL, otherwise where the request
 * came to. Forwarding headers count only from a trusted proxy, as Fastify has it.
 */
export const originOf = (request: FastifyRequest, publicUrl: string): string =>
  publicUrl || `${request.protocol}://${request.host}`;
