import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import pLimit from 'p-limit';
import { untilClosed } from './body.ts';
import { notable } from './held-bytes.ts';

type Compress = (text: string) => Promise<Buffer>;

/** Large answers are packed quickly rather than small, two at once: the process' threads are few. */
const packing = pLimit(2);
const quickly: Readonly<Record<'br' | 'gzip', Compress>> = {
  br: (text) =>
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: (text) => promisify(gzip)(text, { level: 1 }),
};

const encodingFor = (accepted: string): keyof typeof quickly | null =>
  (['br', 'gzip'] as const).find((name) =>
    new RegExp(`(?:^|[,\\s])${name}\\s*(?:,|$|;(?!\\s*q=0(?:\\.0*)?\\s*(?:,|$)))`, 'i').test(
      accepted,
    ),
  ) ?? null;

/**
 * The bytes of a JSON answer. A large one is counted as held by whoever reads it until it is taken,
 * since one that nobody takes stays in memory.
 * @throws Refusal too_many, unavailable
 */
export const jsonAnswer = async (
  reply: FastifyReply,
  body: unknown,
  user: { id: number; guest: boolean } | null,
): Promise<string | Buffer> => {
  const text = JSON.stringify(body);
  reply.type('application/json; charset=utf-8');
  const bytes = Buffer.byteLength(text);
  if (bytes <= notable) return text;
  const { request } = reply;
  untilClosed(reply, request.server.holdBytes(bytes, user, request.ip, 'read'));
  const encoding = encodingFor(request.headers['accept-encoding'] ?? '');
  if (encoding === null) return text;
  const packed = await packing(() => quickly[encoding](text));
  reply.headers({ 'content-encoding': encoding, vary: 'accept-encoding' });
  return packed;
};
