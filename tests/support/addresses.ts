import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** What a file of routes hangs its own below. */
const below = (file: string): string => {
  if (!/manage-routes|stats\/routes|manager-routes/.test(file)) return '';
  return file.includes('/market/') ? '/market/manager' : '/manager';
};

const filesOfRoutes = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('routes.ts'),
);

/** The addresses of all screens, as the files of routes name them. */
export const addresses = [
  ...new Set(
    filesOfRoutes.flatMap((file) =>
      [...readFileSync(path.join(src, file), 'utf8').matchAll(/\bpath: '([^'$]+)'/g)].map(
        ([, found = '']) => path.posix.join('/', below(file), found),
      ),
    ),
  ),
].filter((address) => address !== '/_ui');
