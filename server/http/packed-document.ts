import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sends a large document of JSON that never changes: it is written and packed once, not for each who asks. */
export const createPackedDocument = (make: () => unknown) => {
  let made: { plain: Buffer; packed: Buffer } | undefined;
  const document = () => {
    if (made) return made;
    const plain = Buffer.from(JSON.stringify(make()));
    return (made = { plain, packed: gzipSync(plain) });
  };
  return ({ headers }: FastifyRequest, reply: FastifyReply) => {
    const { plain, packed } = document();
    const packs = /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\b)/i.test(headers['accept-encoding'] ?? '');
    return reply
      .type('application/json; charset=utf-8')
      .headers({ vary: 'accept-encoding', 'content-encoding': packs ? 'gzip' : 'identity' })
      .send(packs ? packed : plain);
  };
};
