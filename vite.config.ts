import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const at = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const outDir = at('./dist/page');

/**
 * The theme is set before the first paint by a small blocking script. It is a file of its own, not
 * inline (the content security policy forbids that), and hashed like every other asset.
 */
const bootScript = (): Plugin => {
  const source = readFileSync(at('./src/app/boot.js'), 'utf8');
  let building = false;
  let reference = '';
  return {
    name: 'boot-script',
    configResolved(config) {
      building = config.command === 'build';
    },
    buildStart() {
      if (building) reference = this.emitFile({ type: 'asset', name: 'boot.js', source });
    },
    transformIndexHtml: {
      order: 'post',
      handler(html) {
        return building ? html.replace('/src/app/boot.js', `/__boot_${reference}__`) : html;
      },
    },
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html'];
        if (page?.type !== 'asset') return;
        page.source = String(page.source).replace(
          `/__boot_${reference}__`,
          `/${this.getFileName(reference)}`,
        );
      },
    },
  };
};

/** Writes `.br` and `.gz` beside every text asset, so that the server never compresses at run time. */
const precompress = (): Plugin => ({
  name: 'precompress',
  apply: 'build',
  async closeBundle() {
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
            [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          },
        });
        await writeFile(`${file}.br`, brotli);
        await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
      }),
    );
  },
});

export default defineConfig({
  plugins: [react(), bootScript(), precompress()],
  resolve: { alias: { '@contract': at('./contract'), '@': at('./src') } },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    // A chunk that is preloaded twice is fetched once; small helpers stay inside their chunk.
    modulePreload: { polyfill: false },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': 'http://127.0.0.1:3000' },
  },
});
