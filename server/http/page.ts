import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import serveStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './handlers.ts';
import { pathOf } from './faults.ts';
import { sendRefusal } from './answer-failure.ts';

/** CSP sources of the inline scripts that the built index.html holds. */
export const inlineScriptHashes = (folder: string): string[] => {
  const file = path.join(folder, 'index.html');
  if (!existsSync(file)) return [];
  const scripts = readFileSync(file, 'utf8').matchAll(
    /<script(?<attributes>[^>]*)>(?<code>[^]*?)<\/script>/g,
  );
  return [...scripts]
    .filter(({ groups }) => !groups?.['attributes']?.includes('src=') && groups?.['code'] !== '')
    .map(({ groups }) => {
      const hash = createHash('sha256')
        .update(groups?.['code'] ?? '')
        .digest('base64');
      return `'sha256-${hash}'`;
    });
};

/** What binds documents and calls; with a script or a style it is only a kilobyte on the way. */
const documentHeaders = [
  'content-security-policy',
  'referrer-policy',
  'permissions-policy',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
  'x-request-id',
  'access-control-expose-headers',
] as const;

/** Addresses that are never the app itself. */
const isCall = (pathname: string): boolean => /^\/(api|v1|files)\//.test(pathname);

/** Chunks of the builds before, which the build keeps beside the page for tabs that still run them. */
const formerChunks = (folder: string): ReadonlySet<string> =>
  new Set(existsSync(folder) ? readdirSync(folder) : []);

/**
 * Serves the built page below `folder`: its files, and index.html for every address of the app,
 * which is any GET path without a file's extension outside /api/, /v1/ and /files/.
 */
export const registerPage = async (app: FastifyInstance, folder: string): Promise<void> => {
  const built = existsSync(path.join(folder, 'index.html'));
  const formerFolder = path.join(folder, '..', 'former');
  const former = formerChunks(formerFolder);
  if (built) {
    await app.register(serveStatic, {
      root: folder,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      dotfiles: 'ignore',
      // Only assets/ carries a hash of the content in its names.
      setHeaders: (reply, file) => {
        const hashed = /^(assets|\.\.[\\/]former)[\\/]/.test(path.relative(folder, file));
        reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
        if (hashed && /\.(js|css)(\.\w+)?$/.test(file))
          for (const name of documentHeaders) reply.removeHeader(name);
      },
    });
  }
  app.route({
    method: ['GET', 'HEAD'],
    url: '/*',
    handler: (request, reply) => {
      const pathname = pathOf(request);
      if (isCall(pathname)) return sendRefusal(reply, new Refusal('not_found'));
      if (!built)
        return reply
          .code(404)
          .type('text/plain; charset=utf-8')
          .send('页面还没有构建：请先运行 npm run build');
      const last = pathname.slice(pathname.lastIndexOf('/') + 1);
      if (former.has(last) && pathname === `/assets/${last}` && !existsSync(folder + pathname))
        return reply.sendFile(last, formerFolder);
      return reply.sendFile(last.includes('.') ? pathname.slice(1) : 'index.html');
    },
  });
  // What other apps share is taken by the service worker; without one it can only be said.
  app.post('/share-target', (request, reply) => {
    // A browser that is answered before all is sent would show a lost connection.
    request.raw.resume();
    return reply.redirect('/?shared=0', 303);
  });
  app.setNotFoundHandler((_request, reply) => sendRefusal(reply, new Refusal('not_found')));
};
