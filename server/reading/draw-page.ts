import { createFairQueue, type Waiter } from '../fair-queue.ts';
import { runApart } from '../guarded-process.ts';
import { ThreadFailure } from '../guarded-thread.ts';
import { isInstalled } from '../optional-packages.ts';
import { workerUrl } from '../worker-url.ts';
import type { PageLine } from './layout.ts';
import type { PageLooks } from './see-pages.ts';

export interface DrawTask {
  data: Uint8Array;
  /** Of a PDF, from 1; null: the data is a picture. */
  page: number | null;
  /** Of a page whose words were read off its picture. */
  looks: PageLooks | null;
}

/** A page of a file as a picture. */
export interface DrawnPage {
  /** WebP, and its pixels. */
  picture: Uint8Array;
  width: number;
  height: number;
  /** What is written on it and where. */
  lines: PageLine[];
}

const bounds = { heapMb: 512, growth: 700 * 1024 * 1024 };
/** What one person may have waiting. */
const most = 3;

const inTurn = createFairQueue(1, most);

export const canDraw = (): boolean => isInstalled('@hyzyla/pdfium');

/**
 * Draws a page in a process of its own, which is ended when it takes too long or too much.
 * @param read gives the file; null: there is none. It is asked when its turn has come: files that
 *   wait would fill the memory.
 * @returns null where it cannot be drawn
 * @throws Refusal too_many
 */
export const drawPage = (
  read: () => Promise<DrawTask | null>,
  { seconds, owner }: { seconds: number; owner: Waiter },
): Promise<DrawnPage | null> =>
  inTurn(owner, async () => {
    const task = await read();
    if (!task) return null;
    try {
      const url = workerUrl('./draw-page-worker.ts', import.meta.url);
      return await runApart<DrawnPage | null>(url, task, { ...bounds, seconds });
    } catch (error) {
      if (error instanceof ThreadFailure) return null;
      throw error;
    }
  });
