import type { FastifyBaseLogger } from 'fastify';
import type { Instance } from '#server/db/instance.ts';
import type { Valkey } from '#server/valkey/valkey.ts';
import { createWordReader } from './word-reader.ts';
import { createWordTeller } from './word-teller.ts';

export type ReplyWords = ReturnType<typeof createReplyWords>;

/**
 * Replies on their way through Valkey: what this process writes goes into a short stream of each
 * reply and out to whoever hears it. Other processes read it there, and end from it the replies of
 * a process that died. Replies that stand in no row stay out of it.
 */
export const createReplyWords = (deps: {
  valkey: Valkey;
  instance: Pick<Instance, 'id' | 'isAlive'>;
  log: Pick<FastifyBaseLogger, 'info'>;
}) => ({
  ...createWordTeller(deps.valkey, deps.instance.id),
  ...createWordReader(deps),
});
