import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { limits } from '../../contract/limits.ts';
import { Refusal } from '../http/handlers.ts';
import { workerUrl } from '../worker-url.ts';

export type DocumentKind = 'pdf' | 'docx';

export interface DocumentText {
  text: string;
  cut: boolean;
}

/** What a document may take to be read: the worker's heap, MB; all that the process grows, bytes. */
const bounds = { heapMb: 256, growth: 500 * 1024 * 1024, lookMs: 50 };

/** Two at once, the others wait. */
const lane = pLimit(2);

const unreadable = () => new Refusal('upload_unreadable', '文件已损坏、已加密或无法读取');
const tooMuch = () => new Refusal('upload_unreadable', '文件太复杂，无法读取');

/**
 * The text of a document, read in a thread that is ended after `seconds`, or when it takes too much
 * memory.
 * @throws Refusal upload_unreadable
 */
export const readDocument = (
  kind: DocumentKind,
  data: Buffer,
  seconds: number,
): Promise<DocumentText> =>
  lane(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker(workerUrl('./document-worker.ts', import.meta.url), {
          workerData: { kind, data, most: limits.fileText },
          resourceLimits: { maxOldGenerationSizeMb: bounds.heapMb, maxYoungGenerationSizeMb: 32 },
          stdout: true,
          stderr: true,
        });
        const before = process.memoryUsage.rss();
        const timer = setTimeout(() => end(() => reject(tooMuch())), seconds * 1000);
        // Buffers lie outside of the heap that resourceLimits bound.
        const watch = setInterval(() => {
          if (process.memoryUsage.rss() - before > bounds.growth) end(() => reject(tooMuch()));
        }, bounds.lookMs);
        let ended = false;
        const end = (settle: () => void) => {
          if (ended) return;
          ended = true;
          clearTimeout(timer);
          clearInterval(watch);
          void worker.terminate().finally(settle);
        };
        worker.on('message', (answer: DocumentText | null) =>
          end(() => (answer ? resolve(answer) : reject(unreadable()))),
        );
        worker.on('error', () => end(() => reject(unreadable())));
        worker.on('exit', () => end(() => reject(unreadable())));
      }),
  );
