import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build, type Plugin as BuildPlugin } from 'esbuild';
import pxtorem from 'postcss-pxtorem';
import { defineConfig, type Plugin } from 'vite';
import {
  callTableAtBuild,
  callTableFile,
  callTableSource,
  isLate,
  lateTableAtBuild,
} from './scripts/call-table.ts';
import { noteBundled } from './scripts/licences.mjs';
import { firstMenu } from './scripts/first-menu.ts';
import { keepFormerChunks, pwa } from './scripts/pwa.ts';
import { bundledPackages } from './scripts/bundled-packages.ts';
import { earlyCalls } from './src/platform/early-calls.ts';

const at = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const outDir = at('./dist/page');

/**
 * A name of a style module: where it is from, and as it stands there. The same from build to build, so
 * that a image of a screen (src/platform/snapshot.ts) stays dressed.
 */
const scopedName = (name: string, file: string): string => {
  const place = path.relative(at('./src'), file.split('?')[0] ?? '');
  const digest = createHash('sha256').update(place).digest('hex');
  return `${digest.replaceAll(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit))).slice(0, 4)}-${name}`;
};

/** Whose boxes the first HTML shows: what is named there as it is here becomes theirs. */
const firstModules = [
  'features/session/home',
  'features/chat/chat',
  'widgets/attach/attach',
  'widgets/composer/send',
  'widgets/conversation/conversation',
];
const dressFirst = async (html: string): Promise<string> => {
  const names = new Map<string, string>();
  for (const module of firstModules) {
    const file = at(`./src/${module}.module.css`);
    const style = await readFile(file, 'utf8');
    for (const [, name = ''] of style.matchAll(/(?<!:global\()\.([a-z]\w*)/gi))
      names.set(name, scopedName(name, file));
  }
  return html.replaceAll(
    /class="([^"]+)"/g,
    (_, all: string) => `class="${all.replaceAll(/\S+/g, (name) => names.get(name) ?? name)}"`,
  );
};

const firstAddresses: BuildPlugin = {
  name: 'first-addresses',
  setup: (bundle) =>
    bundle.onLoad({ filter: callTableFile }, () => ({
      contents: callTableSource((name) => earlyCalls.some((each) => each === name)),
    })),
};

/**
 * What is seen first needs nothing but the first HTML: it holds the style, and the script that sets
 * the theme, shows the first view and then starts the app, whose files are only fetched ahead. The
 * server puts its hash into the content security policy.
 */
const firstHtml = (): Plugin[] => {
  const mark = '__PAGE_FILES__';
  /** What the boot script fetches, by the address that is opened; the side menu in wide windows. */
  const screens = {
    '/': '/features/session/home-screen.tsx',
    '/chat': '/features/chat/chat-screen.tsx',
    menu: '/app/shell-menu.tsx',
  };
  return [
    {
      name: 'boot-script',
      transformIndexHtml: {
        order: 'pre',
        handler: async (html, { server }) => {
          const { outputFiles, metafile } = await build({
            entryPoints: [at('./src/app/boot.ts')],
            bundle: true,
            write: false,
            minify: true,
            format: 'iife',
            target: 'es2022',
            define: { pageFiles: server ? '{}' : JSON.stringify([mark]) },
            plugins: [firstAddresses],
            metafile: true,
          });
          if (!server)
            noteBundled(
              'boot',
              Object.keys(metafile.inputs).map((file) => at(`./${file}`)),
            );
          const withMenu = html.replaceAll(/<!-- menu ?(\S*) -->/g, (_, open: string) =>
            firstMenu(open),
          );
          return (await dressFirst(withMenu)).replace(
            '<script src="/src/app/boot.ts"></script>',
            () => `<script>${outputFiles[0]?.text.trim()}</script>`,
          );
        },
      },
    },
    {
      name: 'first-files',
      apply: 'build',
      transformIndexHtml: {
        order: 'post',
        handler: (html, { bundle = {} }) => {
          const chunks = Object.values(bundle).filter((each) => each.type === 'chunk');
          const filesOf = (screen: string) => {
            const chunk = chunks.find((each) => each.facadeModuleId?.endsWith(screen));
            if (!chunk) throw new Error(`${screen} is no chunk of its own`);
            return [chunk.fileName, ...chunk.imports]
              .filter((file) => !html.includes(file))
              .map((file) => `/${file}`);
          };
          const files = Object.fromEntries(
            Object.entries(screens).map(([address, screen]) => [address, filesOf(screen)]),
          );
          const style = (address: string): string => {
            const asset = bundle[address.slice(1)];
            if (asset?.type !== 'asset') throw new Error(`${address} is no style sheet`);
            return String(asset.source);
          };
          const app = /<script type="module" crossorigin src="([^"]+)"><\/script>/;
          return html
            .replace(`["${mark}"]`, () => JSON.stringify({ ...files, app: app.exec(html)?.[1] }))
            .replace(app, '<link rel="modulepreload" crossorigin href="$1">')
            .replaceAll(
              /<link rel="stylesheet" crossorigin href="([^"]+)">/g,
              // The link tells the chunks that need it that it is there; disabled, it is not fetched.
              (_, address: string) =>
                `<style>${style(address)}</style><link rel="stylesheet" href="${address}" disabled>`,
            );
        },
      },
    },
  ];
};

/**
 * The list's package is one file, whose parts are made by top-level calls without any other effect
 * that do not say so, many in one statement. Said and separated, its tables and grids stay out of
 * what people download: 15 KB of 62.
 */
const listWithoutTables = (): Plugin => ({
  name: 'list-without-tables',
  apply: 'build',
  transform: {
    filter: { id: /node_modules\/react-virtuoso\/dist\/index\.mjs$/ },
    handler(code) {
      let result = '';
      let from = 0;
      const put = (start: number, end: number, text: string) => {
        result += code.slice(from, start) + text;
        from = end;
      };
      for (const statement of this.parse(code).body)
        if (statement.type === 'VariableDeclaration') {
          let before: number | undefined;
          for (const { init, start, end } of statement.declarations) {
            if (before !== undefined) put(before, start, `;\n${statement.kind} `);
            if (init?.type === 'CallExpression') put(init.start, init.start, '/* @__PURE__ */ ');
            before = end;
          }
        }
      return { code: result + code.slice(from), map: null };
    },
  },
});

/** Writes `.br` and `.gz` beside every text asset, so that the server never compresses at run time. */
const precompress = (): Plugin => ({
  name: 'precompress',
  apply: 'build',
  closeBundle: {
    // After the service worker, which is written when the page's own files are.
    order: 'post',
    sequential: true,
    handler: async () => {
      const entries = await readdir(outDir, { recursive: true, withFileTypes: true });
      const files = entries
        .filter(
          (entry) => entry.isFile() && /\.(html|js|css|svg|json|webmanifest|txt)$/.test(entry.name),
        )
        .map((entry) => path.join(entry.parentPath, entry.name));
      await Promise.all(
        files.map(async (file) => {
          const content = await readFile(file);
          const brotli = await promisify(brotliCompress)(content, {
            params: {
              [constants.BROTLI_PARAM_QUALITY]: 11,
              [constants.BROTLI_PARAM_LGBLOCK]: 24,
              [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
            },
          });
          await writeFile(`${file}.br`, brotli);
          await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
        }),
      );
    },
  },
});

export default defineConfig({
  // Mermaid asks for older ones of both: the page loads one of each.
  resolve: { dedupe: ['katex', 'marked'] },
  plugins: [
    react(),
    firstHtml(),
    callTableAtBuild((name) => !isLate(name)),
    lateTableAtBuild(),
    listWithoutTables(),
    pwa(),
    precompress(),
    keepFormerChunks(outDir),
    bundledPackages('page'),
  ],
  css: {
    modules: { generateScopedName: scopedName },
    // Written in px, text grows with what people set in their browser, 16 px being the usual.
    postcss: {
      plugins: [
        pxtorem({
          rootValue: 16,
          unitPrecision: 4,
          propList: ['font', 'font-size', 'line-height', '--text-*', '--font-size', '--adm-font*'],
        }),
      ],
    },
  },
  worker: { format: 'es', plugins: () => [bundledPackages('page-worker')] },
  build: {
    outDir,
    emptyOutDir: true,
    // Kilobytes. The parts of mermaid that draw graphs are 660, fetched by an answer that has one.
    chunkSizeWarningLimit: 700,
    target: 'es2022',
    // Every browser that this page is built for knows modulepreload.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // To read a property and drop it is to do nothing.
      treeshake: { propertyReadSideEffects: false },
      output: {
        codeSplitting: {
          groups: [
            {
              // What every screen stands on: one file, kept by browsers across versions of the page.
              name: 'base',
              test: /rolldown\/runtime|node_modules\/(react|react-dom|scheduler|@tanstack|ky|use-sync-external-store)\/(?!.*([iI]nfinite(QueryObserver|Query\.js)|useBlocker|-table\/|table-core\/))/,
            },
            {
              // What home and chat share: in one file it packs better, and each file costs its headers.
              // The style of the first HTML is all of it here, in the order of src/app/main.tsx.
              name: 'shared',
              test: /vite\/preload-helper|\/contract\/(page-errors|limits|price)\.ts$|\/src\/platform\/(?!accent-tones|say-once|cache-store|late-calls|provider-way|outbox-(?:db|blobs)|forget-person|copy|stream|job-text|upload|jobs\.|pwa|waits|haptics)[\w-]+\.ts$|\/src\/ui\/(icon|button|chip|empty-state|skeleton|sheet|dialog|avatar|load-failed|words-field)\.tsx?$|\/src\/widgets\/(model\/model-sheet|conversation\/session-type|composer\/(send-rules|model-failure)|template\/prompt-sheet)\.tsx?$|\/src\/(platform|widgets)\/attach\/(attach-store\.ts|attach\.tsx|blank\.ts|parts\.ts)$|\/src\/widgets\/image\/image-tool\.ts$|\/src\/(app\/(base|shell|themes\/\w+)|ui\/ui|(features\/session\/home|features\/chat\/chat|widgets\/conversation\/conversation|widgets\/composer\/send|widgets\/markdown\/markdown)\.module)\.css$/,
            },
            {
              name: 'sign-in',
              test: /\/late-call-table\.ts$|\/src\/platform\/(late-calls|provider-way)\.ts$|\/src\/widgets\/sign-in\//,
            },
            { name: 'markdown', test: /\/src\/widgets\/markdown\/markdown\.tsx$/ },
            {
              name: 'rows',
              test: /\/(features\/chat|widgets\/conversation)\/(message-row|live-rows|context-store|model-change|compose-store|chat-time|chat-context|rows|reply-times|separator|on-its-way|message-acts|long-press|use-idle)\.tsx?$|\/features\/chat\/outgoing-note\.module\.css$/,
            },
            {
              name: 'send-kit',
              test: /\/(features\/chat|widgets\/conversation)\/(send-kit|box-state|at-list|outgoing|price-ahead|chat-choices|chat-edges)\.tsx?$/,
            },
            {
              name: 'sessions',
              test: /\/features\/session\/(session-card|session-queries|use-find-key)\.tsx?$|\/widgets\/conversation\/use-refusal\.ts$/,
            },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': 'http://127.0.0.1:3000', '/files': 'http://127.0.0.1:3000' },
  },
});
