import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { reportFault } from './faults.ts';

/** A comment, and how often a silent connection gets it so that nobody takes it for dead, ms. */
export const heartbeat = { frame: ':\n\n', everyMs: 5_000 };

/** Sends the head of a stream of server-sent events; what is written to its response follows. */
export const openEventStream = (reply: FastifyReply): ServerResponse => {
  reply.hijack();
  const response = reply.raw;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  response.on('error', () => response.destroy());
  return response;
};

/**
 * Replies with a stream of server-sent events. `follow` gets the response, whose head is sent, and
 * gives what to call when the connection is gone; should it fail, the connection is cut.
 */
export const serveEvents = async (
  reply: FastifyReply,
  follow: (response: ServerResponse) => Promise<() => void>,
): Promise<void> => {
  const response = openEventStream(reply);
  let gone = false;
  let leave = (): void => {
    gone = true;
  };
  response.on('close', () => leave());
  try {
    const left = await follow(response);
    if (gone) left();
    else leave = left;
  } catch (error) {
    reportFault(reply.request, error, 'a stream could not be served');
    response.destroy();
  }
};
