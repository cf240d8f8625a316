import { parentPort } from 'node:worker_threads';
import { quotesInFiles, type ReadFile } from './quotes-in-files.ts';

/** Looks attached files through, so that nothing else waits for it. */

parentPort?.on(
  'message',
  ({ id, asked, files }: { id: number; asked: string; files: ReadFile[] }) =>
    parentPort?.postMessage({ id, quotes: quotesInFiles(asked, files) }, []),
);
