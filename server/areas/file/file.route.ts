import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Executor } from '#server/db/database.ts';
import { disposition } from '#server/http/disposition.ts';
import { Refusal } from '#server/http/handlers.ts';
import { answerFailure } from '#server/http/answer-failure.ts';
import type { FileService } from './file.service.ts';
import { ownImage, otherFile, thumbnailSides } from './image-address.ts';

/** How long a browser may show an image without asking again whether it is still there, s. */
const maxAge = 300;

/** Whatever it is, it is never shown on this address: a page or a drawing could run there. */
const sendOther = async (
  reply: FastifyReply,
  file: Awaited<ReturnType<FileService['openOther']>>,
): Promise<FastifyReply> => {
  if (!file) throw new Refusal('not_found');
  return reply
    .headers({
      'content-type': 'application/octet-stream',
      'content-disposition': disposition(file.name),
      'content-length': file.size,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, no-store',
    })
    .send(file.stream);
};

/**
 * GET /files/<key>.bin for what is neither; GET /files/<key>.<jpg|png>, `?size=128|180|320|640` for a
 * thumbnail, `?marked=1` with the words that a model made it; what else a query says is somebody's way
 * around a cache. The random key is the right to read it, so links work in every session that shows
 * the image. An image never changes, but it can be deleted: nobody between here and the reader keeps
 * it, and the reader not for long.
 */
export const registerFiles = (app: FastifyInstance, files: FileService, db: Executor): void => {
  app.get('/files/*', async (request, reply) => {
    try {
      const [path = '', query = ''] = request.url.split('?', 2);
      const asked = new URLSearchParams(query);
      const size = asked.get('size');
      const other = size === null ? otherFile(path) : null;
      if (other !== null) return await sendOther(reply, await files.openOther(db, other));
      const found = ownImage(path);
      const side = thumbnailSides.find((each) => size === String(each)) ?? null;
      const marked = size === null && asked.get('marked') === '1';
      if (!found || (size !== null && side === null)) throw new Refusal('not_found');
      const file = marked ? await files.openMarked(db, found) : await files.open(db, found, side);
      if (!file) throw new Refusal('not_found');
      const etag = `"${found.key}${marked ? 'm' : (side ?? '')}"`;
      if (request.headers['if-none-match'] === etag) {
        if ('stream' in file) file.stream.destroy();
        return await reply
          .code(304)
          .headers({ 'cache-control': `private, max-age=${maxAge}`, etag })
          .send();
      }
      reply.headers({
        'content-type': file.mime,
        'content-disposition': 'inline',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        'cache-control': `private, max-age=${maxAge}`,
        etag,
      });
      if ('data' in file) return await reply.send(file.data);
      return await reply.header('content-length', file.size).send(file.stream);
    } catch (error) {
      return answerFailure(error, request, reply);
    }
  });
};
