import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';
import { shareTarget } from '#sw/messages.ts';
import { callTable } from '#common/call-table.ts';
import { workerSteps } from '#sw/worker-steps.ts';
import { bundledPackages } from './bundled-packages.ts';
import { callTableAtBuild } from './call-table.ts';
import { VitePWA, type ManifestOptions } from 'vite-plugin-pwa';

/** What must be there before the worker stands: with it home and chats open, read what was kept, and keep what is written. */
const openFirst = [
  '/src/features/session/home-screen.tsx',
  '/src/features/chat/chat-screen.tsx',
  '/src/features/chat/outgoing-note.tsx',
  '/src/features/chat/send-kit.tsx',
  '/src/widgets/conversation/thread-commands.ts',
  '/src/platform/cache-store.ts',
  '/src/platform/outbox/outbox.ts',
  // What asks before something is thrown away would take the screen with it.
  '/src/ui/dialog-view.tsx',
];
/** What leads to the administration: managers have a network. */
const managersRoutes = /\/manager?-routes\.ts$/;
/** Own parts that are of no use without a network, and need not be there before they are met. */
const onFirstUse = [
  /\/(?:manager?|setup)-[\w-]+\.tsx?$/,
  /\/src\/widgets\/findings\//,
  /\/src\/widgets\/export\//,
  // What they do the server does.
  /\/(?:train\/many-files|(?:refund|invoice|upscale|publish)-sheet|question-form|pay-dialog)\.tsx?$/,
  // Nobody signs in without one, or changes how they do.
  /\/(auth\/way-screen|account\/sign-in-means)\.tsx$/,
];

/** Taken by scripts/screenshots.ts. */
const screenshot = (name: string, form: 'narrow' | 'wide', label: string) => ({
  src: `/screenshots/${name}.webp`,
  sizes: form === 'narrow' ? '780x1688' : '1440x900',
  type: 'image/webp',
  form_factor: form,
  label,
});

const manifest: Partial<ManifestOptions> = {
  id: '/',
  name: '鹊桥',
  short_name: '鹊桥',
  description: '一座桥，通向许多模型。中文 AI 助手。',
  lang: 'zh-CN',
  dir: 'ltr',
  start_url: '/',
  scope: '/',
  display: 'standalone',
  theme_color: '#f6f7f9',
  background_color: '#f6f7f9',
  orientation: 'any',
  categories: ['productivity', 'utilities'],
  icons: [
    { src: '/icons/icon-192.png', sizes: '192x192', type: 'image/png' },
    { src: '/icons/icon-512.png', sizes: '512x512', type: 'image/png' },
    { src: '/icons/maskable-192.png', sizes: '192x192', type: 'image/png', purpose: 'maskable' },
    { src: '/icons/maskable-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    {
      src: '/icons/monochrome-512.png',
      sizes: '512x512',
      type: 'image/png',
      purpose: 'monochrome',
    },
    { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml' },
  ],
  screenshots: [
    screenshot('phone-home', 'narrow', '会话'),
    screenshot('phone-chat', 'narrow', '表格、代码和公式'),
    screenshot('wide-home', 'wide', '在电脑上'),
    screenshot('wide-chat', 'wide', '电脑上的会话'),
  ],
  shortcuts: [
    {
      name: '新会话',
      url: '/?new=1',
      icons: [{ src: '/icons/new-chat-96.png', sizes: '96x96', type: 'image/png' }],
    },
    {
      name: '画图',
      url: '/?tab=imagine&new=1',
      icons: [{ src: '/icons/new-image-96.png', sizes: '96x96', type: 'image/png' }],
    },
  ],
  share_target: {
    action: shareTarget,
    method: 'POST',
    enctype: 'multipart/form-data',
    params: {
      title: 'title',
      text: 'text',
      url: 'url',
      files: [
        {
          name: 'files',
          accept: [
            'image/*',
            'text/*',
            'application/json',
            'application/pdf',
            'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
            '.md',
            '.csv',
            '.json',
            '.pdf',
            '.docx',
          ],
        },
      ],
    },
  },
  // One window: what is opened from outside (a notification, a share) opens in it.
  launch_handler: { client_mode: ['navigate-existing', 'auto'] },
};

/** As many files of earlier builds are kept, the newest. */
const mostFormer = 400;

const chunksIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder).filter((name) => /\.(js|css)(\.br|\.gz)?$/.test(name))
    : [];

/**
 * Keeps the chunks of the builds before in dist/former: a tab that was opened before an update may
 * still ask for one of them.
 */
export const keepFormerChunks = (outDir: string): Plugin => {
  const assets = path.join(outDir, 'assets');
  const former = path.join(outDir, '..', 'former');
  return {
    name: 'former-chunks',
    apply: 'build',
    buildStart() {
      mkdirSync(former, { recursive: true });
      for (const name of chunksIn(assets))
        if (!existsSync(path.join(former, name)))
          linkSync(path.join(assets, name), path.join(former, name));
    },
    closeBundle: {
      order: 'post',
      sequential: true,
      handler: () => {
        const age = (name: string) => statSync(path.join(former, name)).mtimeMs;
        const gone = chunksIn(former)
          .filter((name) => !existsSync(path.join(assets, name)))
          .sort((one, other) => age(other) - age(one))
          .slice(0, mostFormer);
        const kept = new Set(gone);
        for (const name of chunksIn(former)) if (!kept.has(name)) rmSync(path.join(former, name));
      },
    },
  };
};

/**
 * The web manifest and the service worker (sw/), with the list of what it fetches ahead: the page,
 * and of its chunks our own: what the first screen needs, every screen and every sheet. Libraries
 * that are imported when they are first needed (Mermaid, KaTeX, languages of code) are left out,
 * and so is what `onFirstUse` names.
 */
export const pwa = (): Plugin[] => {
  const files = new Set(['index.html', 'icon.svg', 'manifest.webmanifest']);
  const first = new Set(files);
  return [
    {
      name: 'shell-files',
      apply: 'build',
      generateBundle(_, bundle) {
        const isManagers = (module: string) =>
          this.getModuleInfo(module)?.dynamicImporters.every((at) => managersRoutes.test(at));
        type Chunk = Extract<(typeof bundle)[string], { type: 'chunk' }>;
        /** Adds a chunk with all that it imports, and what else of its imports comes `later`. */
        const add = (to: Set<string>, name: string, later: (chunk: Chunk) => string[]) => {
          const chunk = bundle[name];
          if (to.has(name) || chunk?.type !== 'chunk') return;
          to.add(name);
          for (const css of chunk.viteMetadata?.importedCss ?? []) to.add(css);
          for (const each of [...chunk.imports, ...later(chunk)]) add(to, each, later);
        };
        const ours = ({ dynamicImports }: Chunk) =>
          dynamicImports.filter((each) => {
            const next = bundle[each];
            const module = (next?.type === 'chunk' && next.facadeModuleId) || '/node_modules/';
            return !(
              module.includes('/node_modules/') ||
              onFirstUse.some((at) => at.test(module)) ||
              isManagers(module)
            );
          });
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== 'chunk') continue;
          if (chunk.isEntry) add(files, chunk.fileName, ours);
          if (chunk.isEntry || openFirst.some((each) => chunk.facadeModuleId?.endsWith(each)))
            add(first, chunk.fileName, () => []);
        }
      },
    },
    ...VitePWA({
      strategies: 'injectManifest',
      srcDir: 'sw',
      filename: 'sw.ts',
      injectRegister: false,
      includeManifestIcons: false,
      manifest,
      integration: {
        // As quiet as the page's own build. The plugin still says it in the bundler's former words,
        // which the bundler warns of.
        configureCustomSWViteBuild: (config) => {
          config.logLevel = 'warn';
          const output = config.build?.rollupOptions?.output;
          if (!output || Array.isArray(output)) return;
          delete output.inlineDynamicImports;
          output.codeSplitting = false;
        },
      },
      injectManifest: {
        buildPlugins: {
          vite: [
            callTableAtBuild(
              (name) => callTable[name].offline || workerSteps.some((step) => step === name),
            ),
            bundledPackages('service-worker'),
          ],
        },
        minify: true,
        target: 'es2022',
        globPatterns: ['**/*.{html,js,css,svg}'],
        dontCacheBustURLsMatching: /assets\//,
        maximumFileSizeToCacheInBytes: 1024 * 1024,
        modifyURLPrefix: { '': '/' },
        manifestTransforms: [
          (entries) => ({
            manifest: entries
              .map((entry) => ({ ...entry, name: entry.url.replace(/^\//, '') }))
              .filter(({ name }) => files.has(name))
              // What the worker takes first is marked (sw/cache.ts).
              .map(({ name, ...entry }) => (first.has(name) ? { ...entry, first: true } : entry)),
            warnings: [],
          }),
        ],
      },
    }),
  ];
};
