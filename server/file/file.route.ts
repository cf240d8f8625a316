import type { FastifyInstance } from 'fastify';
import { Refusal } from '../http/handlers.ts';
import { answerFailure } from '../http/routes.ts';
import { type FileService, ownImage, thumbnailSides } from './file.service.ts';

/**
 * GET /files/<key>.<jpg|png>, `?size=128|180|320|640` for a thumbnail. The random key is the right to read
 * it, so links work in every session that shows the picture. A picture never changes.
 */
export const registerFiles = (app: FastifyInstance, files: FileService): void => {
  app.get('/files/*', async (request, reply) => {
    try {
      const [path = '', query = ''] = request.url.split('?', 2);
      const found = ownImage(path);
      const side = thumbnailSides.find((each) => query === `size=${each}`) ?? null;
      if (!found || (query !== '' && side === null)) throw new Refusal('not_found');
      const file = await files.open(found.key, found.type, side);
      if (!file) throw new Refusal('not_found');
      reply.headers({
        'content-type': file.mime,
        'content-disposition': 'inline',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        'cache-control': 'public, max-age=31536000, immutable',
      });
      if ('data' in file) return await reply.send(file.data);
      return await reply.header('content-length', file.size).send(file.stream);
    } catch (error) {
      return answerFailure(error, request, reply);
    }
  });
};
