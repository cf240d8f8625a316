import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const pack = {
  br: (plain: Buffer) =>
    brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (plain: Buffer) => gzipSync(plain),
};
type Packing = keyof typeof pack;

const takes = (accepted: string, packing: Packing): boolean =>
  new RegExp(`\\b${packing}\\b(?!\\s*;\\s*q=0(?:\\.0+)?\\b)`, 'i').test(accepted);

/** Sends a large document of JSON that never changes: it is written and packed once, not for each who asks. */
export const createPackedDocument = (make: () => unknown) => {
  let plain: Buffer | undefined;
  const packed: Partial<Record<Packing, Buffer>> = {};
  return ({ headers }: FastifyRequest, reply: FastifyReply) => {
    plain ??= Buffer.from(JSON.stringify(make()));
    const accepted = headers['accept-encoding'] ?? '';
    reply.type('application/json; charset=utf-8').header('vary', 'accept-encoding');
    for (const packing of ['br', 'gzip'] as const)
      if (takes(accepted, packing))
        return reply
          .header('content-encoding', packing)
          .send((packed[packing] ??= pack[packing](plain)));
    return reply.send(plain);
  };
};
