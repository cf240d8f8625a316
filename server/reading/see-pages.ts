import { createFairQueue, type Waiter } from '../fair-queue.ts';
import { openApart } from '../guarded-process.ts';
import { ThreadFailure } from '../guarded-thread.ts';
import { isInstalled } from '../optional-packages.ts';
import { workerUrl } from '../worker-url.ts';
import type { Block } from './block.ts';
import type { PageLine } from './layout.ts';

export interface SeeTask {
  data: Uint8Array;
  /** Of a PDF, from 1; null: the data is a picture. */
  page: number | null;
}
/** Where its lines stand on a page that was looked at. */
export interface PageLooks {
  /** 0: the file is a picture itself. */
  page: number;
  /** By how many degrees it is turned so that its lines are level, as the places of them are. */
  angle: number;
  lines: PageLine[];
}

/** What a page shows; else whether what reads it is not installed, or it cannot be read. */
export type SeenPage = { blocks: Block[]; looks: PageLooks } | { missing: boolean };

/** Why a file of pictures alone gives no text, for people. */
export const whyNothing = ({ failed, missing }: Seen): string =>
  missing
    ? '文件里只有图片，服务器上没有安装识别文字的组件'
    : failed > 0
      ? '文件里只有图片，太大、太复杂或已损坏，没有读出来'
      : '文件里只有图片，没有认出文字';

/** What was seen on pages, and how many could not be read. */
export interface Seen {
  blocks: Block[];
  /** Of each page that was read. */
  looks: PageLooks[];
  failed: number;
  /** What reads them is not installed. */
  missing: boolean;
}

/** The networks and a page take some hundred megabytes between them. */
const bounds = { heapMb: 512, growth: 1600 * 1024 * 1024 };
/**
 * As much longer than a document may a page take of the processor, and of the clock: a machine that
 * was busy gave a page of five seconds too little in two minutes.
 */
const longer = { processor: 4, clock: 30 };

/** One page at a time: it takes a whole core. */
const inTurn = createFairQueue(1);

export const canSee = (): boolean =>
  isInstalled('onnxruntime-web') && isInstalled('@hyzyla/pdfium');

/**
 * Reads what stands on pages that are pictures, one after the other, in a process that is ended
 * when one of them takes too long, by what a document may (`seconds`), or too much of the memory; the
 * next one then has a new process.
 * @param pages of a PDF; null: the data is a picture
 */
export const seePages = async (
  data: Uint8Array,
  pages: readonly number[] | null,
  {
    seconds,
    owner,
    onPage = () => undefined,
    signal,
  }: {
    seconds: number;
    owner: Waiter;
    /** Called with how many pages were looked at, and what was seen on them; ends it by throwing. */
    onPage?: (done: number, seen: Seen) => void | Promise<void>;
    signal?: AbortSignal | undefined;
  },
): Promise<Seen> => {
  const seen: Seen = { blocks: [], looks: [], failed: 0, missing: false };
  if (!canSee()) return { ...seen, missing: true };
  const apart = openApart(workerUrl('./see-worker.ts', import.meta.url), {
    ...bounds,
    seconds: seconds * longer.clock,
    processorSeconds: seconds * longer.processor,
  });
  try {
    for (const [at, page] of (pages ?? [null]).entries()) {
      signal?.throwIfAborted();
      try {
        const task: SeeTask = { data, page };
        const answer = await inTurn(owner, () => apart.ask<SeenPage>(task));
        if ('blocks' in answer) {
          seen.blocks.push(...answer.blocks);
          seen.looks.push(answer.looks);
        } else {
          seen.failed += 1;
          seen.missing ||= answer.missing;
        }
      } catch (error) {
        if (!(error instanceof ThreadFailure)) throw error;
        seen.failed += 1;
      }
      if (seen.missing) break;
      await onPage(at + 1, seen);
    }
    return seen;
  } finally {
    apart.close();
  }
};
