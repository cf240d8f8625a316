import { createFairQueue, type Waiter } from '../fair-queue.ts';
import { openApart } from '../guarded-process.ts';
import { ThreadFailure } from '../guarded-thread.ts';
import { isInstalled } from '../optional-packages.ts';
import { workerUrl } from '../worker-url.ts';
import type { Block } from './block.ts';
import type { PageLine } from './layout.ts';
import type { Looking } from './seeing/see.ts';

/** A page to look at, or one that was begun. */
export type SeeTask = {
  /** Of a PDF, from 1; null: it is a picture. */
  page: number | null;
  /** Of the processor, s: until others have a turn, and for all of the page. */
  bounds: { turn: number; all: number };
} & (
  | { data: Uint8Array; known: Readonly<Record<string, number>> }
  | { mark: string; looking: Looking }
);
/** Where its lines stand on a page that was looked at. */
export interface PageLooks {
  /** 0: the file is a picture itself. */
  page: number;
  /** By how many degrees it is turned so that its lines are level, as the places of them are. */
  angle: number;
  lines: PageLine[];
}

/**
 * What a page shows, with a mark of its picture (empty: none) and whether some of its lines were left
 * out; the mark alone where it is known; what is known by now where its turn is over; else whether
 * what reads it is not installed, or it cannot be read.
 */
export type SeenPage =
  | { blocks: Block[]; looks: PageLooks; cut: boolean; mark: string }
  | { mark: string }
  | { mark: string; looking: Looking }
  | { missing: boolean };

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
  /** Pages of which some lines were left out: they took too long. */
  cut: number;
  /** What reads them is not installed. */
  missing: boolean;
  /** Of each picture that a page of a PDF shows, a page that does. */
  marks: Record<string, number>;
}

export const nothingSeen = (): Seen => ({
  blocks: [],
  looks: [],
  failed: 0,
  cut: 0,
  missing: false,
  marks: {},
});

/** Adds a page that shows what another one does. */
const addSame = (seen: Seen, page: number, as: number): void => {
  for (const block of seen.blocks.filter(({ place }) => place.page === as))
    seen.blocks.push({ ...block, place: { ...block.place, page } });
  const looks = seen.looks.find((each) => each.page === as);
  if (looks) seen.looks.push({ ...looks, page });
};

/** The networks and a page take some hundred megabytes between them. */
const bounds = { heapMb: 512, growth: 1600 * 1024 * 1024 };
/**
 * As much longer than a document may a page take of the processor, and of the clock: a machine that
 * was busy gave a page of five seconds too little in two minutes.
 */
const longer = { processor: 4, finding: 2, clock: 30 };
/** Of the processor, that a page takes before others have a turn, s: most take no longer. */
const turnSeconds = 6;
/** Of the processor, s, that the networks take to load and to find the lines of a page, and much more. */
const leastFinding = 30;

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
    before = {},
    turn = turnSeconds,
  }: {
    seconds: number;
    owner: Waiter;
    /** Called with how many pages were looked at now, and what was seen on all; ends it by throwing. */
    onPage?: (done: number, seen: Seen) => void | Promise<void>;
    signal?: AbortSignal | undefined;
    /** What was seen on other pages of it before. */
    before?: Partial<Seen>;
    /** Of the processor, s, until others have their turn. */
    turn?: number;
  },
): Promise<Seen> => {
  const seen = structuredClone<Seen>({ ...nothingSeen(), ...before });
  if (!canSee()) return { ...seen, missing: true };
  const apart = openApart(workerUrl('./see-worker.ts', import.meta.url), {
    ...bounds,
    seconds: Math.max(leastFinding * 4, seconds * longer.clock),
    // A turn ends by itself; this is for a page whose lines are not even found.
    processorSeconds: Math.max(leastFinding, seconds * longer.finding),
  });
  const turns = { turn, all: seconds * longer.processor };
  /** What a page shows, in as many turns as it takes. */
  const lookAt = async (page: number | null): Promise<Exclude<SeenPage, { looking: Looking }>> => {
    let task: SeeTask = { data, page, known: seen.marks, bounds: turns };
    for (;;) {
      signal?.throwIfAborted();
      const answer: SeenPage = await inTurn(owner, () => apart.ask<SeenPage>(task));
      if (!('looking' in answer)) return answer;
      task = { ...answer, page, bounds: turns };
    }
  };
  try {
    for (const [at, page] of (pages ?? [null]).entries()) {
      signal?.throwIfAborted();
      try {
        const answer = await lookAt(page);
        if ('blocks' in answer) {
          seen.blocks.push(...answer.blocks);
          seen.looks.push(answer.looks);
          if (answer.cut) seen.cut += 1;
          if (page !== null) seen.marks[answer.mark] = page;
        } else if ('mark' in answer) {
          if (page !== null) addSame(seen, page, seen.marks[answer.mark] ?? 0);
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
