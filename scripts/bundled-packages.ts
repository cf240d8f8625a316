import type { Plugin } from 'vite';
import { noteBundled } from './licences.mjs';

/** Writes down of which packages a bundle of the page is made, for the third-party notices. */
export const bundledPackages = (place: 'page' | 'page-worker' | 'service-worker'): Plugin => ({
  name: `bundled-packages-${place}`,
  apply: 'build',
  generateBundle(_, bundle) {
    noteBundled(
      place,
      Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])),
    );
  },
});
