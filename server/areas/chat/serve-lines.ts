import type { FastifyInstance } from 'fastify';
import { serveEvents } from '#server/http/event-stream.ts';
import { Refusal } from '#server/http/handlers.ts';
import { sinkOf } from '#server/http/sink.ts';
import { instanceHeader, linePath, writingHeader } from './reply-line.ts';
import type { Replies } from './replies.ts';

/** Serves what this process writes to the other processes, which show it to their readers. */
export const serveReplyLines = (http: FastifyInstance, replies: Replies): void => {
  http.get(linePath, async (request, reply) => {
    const { instance, reply: number } = request.params as { instance: string; reply: string };
    const id = /^[1-9]\d{0,15}$/.test(number) ? Number(number) : 0;
    if (!replies.admits(request.headers.authorization, instance, id))
      throw new Refusal('not_found');
    reply.header(instanceHeader, instance);
    const writing = replies.writingOf(id);
    if (writing === null) throw new Refusal('not_found');
    reply.header(writingHeader, writing);
    const position = Number(request.headers['last-event-id']) || 0;
    await serveEvents(reply, (response) =>
      replies.read(id, 'streaming', sinkOf(response), position, 'process'),
    );
  });
};
