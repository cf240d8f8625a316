/**
 * In development a thread does not know TypeScript by itself: the first thing in it teaches it.
 */
const taught = (address: URL): URL => {
  const teacher = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const code = `import{register}from${teacher};register();await import(${JSON.stringify(address.href)})`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
};

/**
 * The address of a worker's file, written as in the source, from the file `from`. The build makes
 * `main.js` and every `*-worker.ts` a bundle in one folder.
 */
export const workerUrl = (source: `./${string}-worker.ts`, from: string): URL =>
  from.endsWith('.ts')
    ? taught(new URL(source, from))
    : new URL(source.replace(/\.ts$/, '.js'), from);
