import type { FastifyInstance } from 'fastify';
import type { Database } from '#server/db/database.ts';
import { readRange } from '#server/http/byte-range.ts';
import { Refusal } from '#server/http/handlers.ts';
import { answerFailure } from '#server/http/answer-failure.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { posterSides, type FilmFiles, type PosterSide } from './film-files.ts';
import * as store from './video.store.ts';

const address = /^\/files\/video\/([0-9a-f]{40})\.(webm|mp4|webp)(?:\/w(\d{3}))?$/;
const endings = { webm: 'video/webm', mp4: 'video/mp4' } as const;

/** How long a browser may show it without asking again whether it is still there, s. */
const maxAge = 300;

const sideOf = (text: string): PosterSide | undefined =>
  posterSides.find((side) => String(side) === text);

/**
 * GET /files/video/<key>.<webm|mp4>, with `Range`; its first image as .webp, smaller by `?size=`
 * or `/w200`. The random key is the right to read it, as long as its message is there.
 */
export const registerFilms = (
  app: FastifyInstance,
  { db, storage, films }: { db: Database; storage: Storage; films: FilmFiles },
): void => {
  app.get('/files/video/*', async (request, reply) => {
    try {
      const [path = '', query = ''] = request.url.split('?', 2);
      const [, key = '', ending = '', width = ''] = address.exec(path) ?? [];
      const row = key === '' ? null : await store.findByKey(db, key);
      if (!row) throw new Refusal('not_found');
      reply.headers({
        'content-disposition': 'inline',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        // What is deleted is not to be seen for long.
        'cache-control': `private, max-age=${maxAge}`,
      });
      if (ending === 'webp') {
        const asked = width || new URLSearchParams(query).get('size');
        const side = asked === null ? null : sideOf(asked);
        if (side === undefined) throw new Refusal('not_found');
        const poster = await films.poster(key, side);
        if (!poster) throw new Refusal('not_found');
        return await reply.type('image/webp').send(poster);
      }
      if (endings[ending as keyof typeof endings] !== row.mime) throw new Refusal('not_found');
      const name = films.filmKey(key, row.mime);
      reply.type(row.mime).header('accept-ranges', 'bytes');
      const range = readRange(request.headers.range);
      if (range === null) {
        const found = await storage.get(name);
        if (!found) throw new Refusal('not_found');
        return await reply.header('content-length', found.size).send(found.stream);
      }
      const part = await storage.getPart(name, range);
      if (part === null) throw new Refusal('not_found');
      if (part === 'outside') return await reply.code(416).send();
      return await reply
        .code(206)
        .headers({
          'content-range': `bytes ${part.from}-${part.to}/${part.size}`,
          'content-length': part.to - part.from + 1,
        })
        .send(part.stream);
    } catch (error) {
      return answerFailure(error, request, reply);
    }
  });
};
