import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import serveStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './handlers.ts';
import { pathOf, sendRefusal } from './routes.ts';

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

/** Addresses that are never the app itself. */
/** What binds documents and calls; with a script or a style it is only a kilobyte on the way. */
const documentHeaders = [
  'content-security-policy',
  'referrer-policy',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
  'x-request-id',
  'access-control-expose-headers',
] as const;

const isCall = (pathname: string): boolean => /^\/(api|v1|files)\//.test(pathname);

/**
 * Serves the built page below `folder`: its files, and index.html for every address of the app,
 * which is any GET path without a file's extension outside /api/, /v1/ and /files/.
 */
export const registerPage = async (app: FastifyInstance, folder: string): Promise<void> => {
  const built = existsSync(path.join(folder, 'index.html'));
  if (built) {
    await app.register(serveStatic, {
      root: folder,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      dotfiles: 'ignore',
      // Only assets/ carries a hash of the content in its names.
      setHeaders: (reply, file) => {
        const hashed = path.relative(folder, file).startsWith(`assets${path.sep}`);
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
      return reply.sendFile(last.includes('.') ? pathname.slice(1) : 'index.html');
    },
  });
  app.setNotFoundHandler((_request, reply) => sendRefusal(reply, new Refusal('not_found')));
};
