import type { Plugin } from 'vite';
import { VitePWA, type ManifestOptions } from 'vite-plugin-pwa';

/** Own screens and sheets that are too big, or too rarely used, to be fetched before they are met. */
const onFirstUse = [/\/src\/shared\/editor\//, /\/src\/shared\/export\//];

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
  icons: [{ src: '/icon.svg', sizes: 'any', type: 'image/svg+xml' }],
};

/**
 * The web manifest and the service worker (sw/), with the list of what it fetches ahead: the page,
 * and of its chunks our own: what the first screen needs, every screen and every sheet. Libraries
 * that are imported when they are first needed (Mermaid, KaTeX, languages of code) are left out,
 * and so is what `onFirstUse` names.
 */
export const pwa = (): Plugin[] => {
  const files = new Set(['index.html', 'icon.svg', 'manifest.webmanifest']);
  return [
    {
      name: 'shell-files',
      apply: 'build',
      generateBundle(_, bundle) {
        const add = (name: string) => {
          const chunk = bundle[name];
          if (files.has(name) || chunk?.type !== 'chunk') return;
          files.add(name);
          for (const css of chunk.viteMetadata?.importedCss ?? []) files.add(css);
          for (const each of chunk.imports) add(each);
          for (const each of chunk.dynamicImports) {
            const next = bundle[each];
            const module = (next?.type === 'chunk' && next.facadeModuleId) || '/node_modules/';
            if (module.includes('/node_modules/')) continue;
            if (!onFirstUse.some((place) => place.test(module))) add(each);
          }
        };
        for (const chunk of Object.values(bundle))
          if (chunk.type === 'chunk' && chunk.isEntry) add(chunk.fileName);
      },
    },
    ...VitePWA({
      strategies: 'injectManifest',
      srcDir: 'sw',
      filename: 'sw.ts',
      injectRegister: false,
      includeManifestIcons: false,
      manifest,
      injectManifest: {
        minify: true,
        target: 'es2022',
        globPatterns: ['**/*.{html,js,css,svg}'],
        dontCacheBustURLsMatching: /assets\//,
        maximumFileSizeToCacheInBytes: 1024 * 1024,
        modifyURLPrefix: { '': '/' },
        manifestTransforms: [
          (entries) => ({
            manifest: entries.filter(({ url }) => files.has(url.replace(/^\//, ''))),
            warnings: [],
          }),
        ],
      },
    }),
  ];
};
