import { MarkdownDocument, type Block } from '@/shared/markdown/document.ts';

/** The blocks of one row of the list. */
export type Segment = readonly Block[];

/** A row ends after about so much text: a long reply is many rows, of which the visible ones exist. */
const segmentSize = 1_000;
const segmentBlocks = 9;
/** Two paints with new text are at least so far apart, ms: about 30 a second read as smoothly as 60. */
const paintInterval = 30;
/**
 * Most text taken in at one paint. A burst arrives in such slices with a pause between them: what a
 * slice costs is what comes into view of it, and the page stays usable in the pauses.
 */
const slice = 8_000;
const pauseOfBurst = 60;

const sizeOf = (block: Block): number =>
  block.kind === 'code'
    ? block.pieces.reduce((sum, piece) => sum + piece.length, 0)
    : block.text.length;

/** Adds the blocks to the segments behind what is there; gives the blocks of the unfinished last one. */
class Segments {
  readonly closed: Segment[] = [];
  private rest: Block[] = [];
  private size = 0;
  private taken = 0;

  take(blocks: readonly Block[]): Segment {
    for (; this.taken < blocks.length; this.taken++) {
      const block = blocks[this.taken]!;
      const size = sizeOf(block);
      // A heading belongs to what follows it, and what goes on to what it goes on from.
      const full = this.size + size > segmentSize || this.rest.length >= segmentBlocks;
      if (full && this.rest.length > 0) {
        this.closed.push(this.rest);
        this.rest = [];
        this.size = 0;
      }
      this.rest.push(block);
      this.size += size;
    }
    return [...this.rest];
  }
}

const cut = (document: MarkdownDocument): Segment[] => {
  const segments = new Segments();
  const last = segments.take(document.blocks);
  return last.length > 0 || segments.closed.length === 0
    ? [...segments.closed, last]
    : segments.closed;
};

/** The rows of a text that is whole. */
export const segmentsOf = (text: string): Segment[] => {
  const document = new MarkdownDocument(text);
  document.end();
  return cut(document);
};

/**
 * A reply while it is written: text goes into a buffer and from there, once a paint, into the
 * document. Its open segment is followed by one row; the list hears only of new rows.
 */
export class LiveReply {
  reasoning = '';
  /** Finished rows. */
  segments: Segment[] = [];
  private document = new MarkdownDocument();
  private cutter = new Segments();
  private revision = 0;
  private openSegment: Segment = [];
  private buffer = '';
  private text = '';
  private timer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0;
  private lastPaint = 0;
  private ending: (() => void) | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly onRows: () => void;
  private rows = 0;
  private thoughts = 0;

  /** @param onRows The number of rows changed, or the first text is there. */
  constructor(onRows: () => void) {
    this.onRows = onRows;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  /** The blocks of the row that is being written; another array after each change. */
  readonly open = (): Segment => this.openSegment;

  /** All text that arrived, shown or not yet. */
  get whole(): string {
    return this.text + this.buffer;
  }

  get started(): boolean {
    return this.text !== '' || this.reasoning !== '';
  }

  addText(text: string): void {
    this.buffer += text;
    this.schedule();
  }

  addReasoning(text: string): void {
    this.reasoning += text;
    this.thoughts++;
    this.schedule();
  }

  /** Shows what is left and calls back once all of it is on the page. */
  end(then: () => void): void {
    this.ending = then;
    this.schedule();
  }

  /** Stops painting; nothing is called back any more. */
  dispose(): void {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.timer = undefined;
    this.frame = 0;
    this.ending = null;
    this.listeners.clear();
  }

  private schedule(): void {
    if (this.timer !== undefined || this.frame !== 0) return;
    // A hidden page paints nothing, and its frames do not come; the text goes on in bigger steps.
    if (document.hidden) {
      this.timer = setTimeout(this.paint, 250);
      return;
    }
    const interval = this.buffer.length > slice / 2 ? pauseOfBurst : paintInterval;
    const wait = this.lastPaint + interval - performance.now();
    if (wait <= 4) this.frame = requestAnimationFrame(this.paint);
    else
      this.timer = setTimeout(() => {
        this.timer = undefined;
        this.frame = requestAnimationFrame(this.paint);
      }, wait - 4);
  }

  private readonly paint = (): void => {
    this.timer = undefined;
    this.frame = 0;
    this.lastPaint = performance.now();
    const part = this.buffer.slice(0, slice);
    this.buffer = this.buffer.slice(slice);
    if (part !== '') {
      this.text += part;
      this.document.append(part);
    }
    const ended = this.buffer === '' && this.ending !== null;
    if (ended) this.document.end();
    this.refresh();
    if (this.buffer !== '') this.schedule();
    const then = this.ending;
    if (ended && then) {
      this.ending = null;
      then();
    }
  };

  private refresh(): void {
    if (this.revision !== this.document.revision) {
      this.revision = this.document.revision;
      this.cutter = new Segments();
    }
    const rest = this.cutter.take(this.document.blocks);
    const { open } = this.document;
    this.segments = this.cutter.closed;
    this.openSegment = open ? [...rest, open] : rest;
    // One more than the finished rows; the very first text and thought make rows, too.
    const rows =
      this.segments.length * 4 + (this.text === '' ? 0 : 1) + (this.thoughts > 0 ? 2 : 0);
    if (rows !== this.rows) {
      this.rows = rows;
      this.onRows();
    }
    for (const listener of this.listeners) listener();
  }
}
