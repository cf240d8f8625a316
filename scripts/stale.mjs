import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What of the checkout is out of date: the installed packages, the build. Needs no package itself. */

const root = fileURLToPath(new URL('..', import.meta.url));
const stampFile = join(root, 'dist', '.stamp');
const built = ['dist/page/index.html', 'dist/page/third-party-notices.txt', 'dist/server/main.js'];

/** All that the build is made of. */
const sources = [
  'contract',
  'index.html',
  'common',
  'package-lock.json',
  'packages',
  'public',
  'LICENSE',
  'scripts/build-server.mjs',
  'scripts/bundled-packages.ts',
  'scripts/licences',
  'scripts/licences.mjs',
  'scripts/optional-packages.mjs',
  'scripts/pwa.ts',
  'server',
  'src',
  'sw',
  'tsconfig.base.json',
  'vite.config.ts',
];

const filesBelow = (path) => {
  const full = join(root, path);
  if (!existsSync(full)) return [];
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full)
    .sort()
    .flatMap((name) => filesBelow(`${path}/${name}`));
};

const hashOfSources = () => {
  const hash = createHash('sha256').update(process.version);
  for (const file of sources.flatMap(filesBelow)) {
    if (file.includes('.test.')) continue;
    const content = readFileSync(join(root, file));
    hash.update(`\0${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
};

export const buildIsFresh = () =>
  existsSync(stampFile) &&
  built.every((file) => existsSync(join(root, file))) &&
  readFileSync(stampFile, 'utf8') === hashOfSources();

export const stampBuild = () => writeFileSync(stampFile, hashOfSources());

/**
 * Whether node_modules holds what package-lock.json asks for, as npm itself notes it there.
 * withDev: the tools of the build included.
 */
export const packagesAreFresh = (withDev) => {
  const note = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(note)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const there = JSON.parse(readFileSync(note, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional, dev, devOptional }]) =>
      path === '' ||
      optional ||
      ((dev || devOptional) && !withDev) ||
      there[path]?.version === version,
  );
};
