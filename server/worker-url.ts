/**
 * The address of a worker's file, written as in the source, from the file `from`. The build makes
 * `main.js` and every `*-worker.ts` a bundle in one folder.
 */
export const workerUrl = (source: `./${string}-worker.ts`, from: string): URL =>
  new URL(from.endsWith('.ts') ? source : source.replace(/\.ts$/, '.js'), from);
