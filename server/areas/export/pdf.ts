import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import { workerUrl } from '#server/worker-url.ts';
import type { PdfHead, PdfMessage } from './pdf-document.ts';
import type { FromWorker, ToWorker } from './pdf-worker.ts';

/** What one document may take: time of the thread, ms; its heap, MB; its images, bytes. */
const bounds = { ms: 180_000, heapMb: 768, images: 120 * 1024 * 1024, mostImages: 500 };
/** Two are made at once, one of them of visitors, and so many of a person wait. */
const turn = createFairQueue(2, 15);
/** Images of one document that are fetched at once. */
const fetches = 6;

export interface PdfWork {
  who: Waiter;
  head: PdfHead;
  messages: AsyncIterator<PdfMessage[]>;
  image: (address: string, signal: AbortSignal) => Promise<Buffer | null>;
  onProgress: (done: number) => void;
  /** Aborted: nobody waits for it any more. */
  signal: AbortSignal;
}

const gaveUp = () => new Refusal('unavailable', 'PDF 没有做成，请稍后重试');

const make = (work: PdfWork): Promise<{ data: Buffer; failed: string[] }> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(workerUrl('./pdf-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: bounds.heapMb, maxYoungGenerationSizeMb: 64 },
      stdout: true,
      stderr: true,
    });
    const fetching = new AbortController();
    let room = bounds.images;
    let asked = 0;
    const fetchLimit = pLimit(fetches);
    let ended = false;
    const end = (settle: () => void) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      work.signal.removeEventListener('abort', leave);
      fetching.abort();
      void worker.terminate().finally(settle);
    };
    const fail = () => end(() => reject(gaveUp()));
    const leave = () => end(() => reject(work.signal.reason));
    const timer = setTimeout(fail, bounds.ms);
    const send = (message: ToWorker) => {
      if (!ended) worker.postMessage(message, []);
    };
    const sendImage = async (address: string) => {
      asked += 1;
      let data: Buffer | null = null;
      if (asked <= bounds.mostImages && room > 0)
        data = await fetchLimit(() => work.image(address, fetching.signal));
      if (data && data.length > room) data = null;
      room -= data?.length ?? 0;
      send({ kind: 'image', address, data });
    };
    const sendMessages = async () => {
      const { done, value } = await work.messages.next();
      send({ kind: 'messages', messages: done ? null : value });
    };
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'more') void sendMessages().catch(fail);
      else if (message.kind === 'image') void sendImage(message.address).catch(fail);
      else if (message.kind === 'progress') work.onProgress(message.done);
      else {
        const { data, failed } = message;
        const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
        end(() => resolve({ data: bytes, failed }));
      }
    });
    worker.on('error', fail);
    worker.on('exit', fail);
    work.signal.addEventListener('abort', leave);
    send({ kind: 'head', head: work.head });
  });

/** Makes a PDF in a thread of its own. @throws Refusal unavailable, too_many; the signal's reason */
export const makePdfApart = (work: PdfWork): Promise<{ data: Buffer; failed: string[] }> =>
  turn(work.who, async () => {
    work.signal.throwIfAborted();
    return make(work);
  });
