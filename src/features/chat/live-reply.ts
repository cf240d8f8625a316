import { MarkdownDocument, type Block } from '@markdown/document.ts';

/** The blocks of one row of the list. */
export type Segment = readonly Block[];

/** A row ends after about so much text: a long reply is many rows, of which the visible ones exist. */
const segmentSize = 1_000;
const segmentBlocks = 9;
/** Two paints with new text are at least so far apart, ms: about 30 a second read as smoothly as 60. */
const paintInterval = 30;
/** Text taken in at once, in characters, and how long one paint may go on with that, ms. */
const slice = 1_000;
const budget = 6;
/** Up to here a paint takes in one slice: the first of all are slow, nothing being warm yet. */
const gentle = 3_000;

const headingPattern = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const isHeading = (block: Block | undefined): boolean =>
  block?.kind === 'text' && !block.inline && headingPattern.test(block.text);

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
      if (full && this.rest.length > 0) this.close();
      this.rest.push(block);
      this.size += size;
    }
    return [...this.rest];
  }

  private close(): void {
    let end = this.rest.length;
    while (end > 0 && isHeading(this.rest[end - 1])) end--;
    if (end === 0) return;
    this.closed.push(this.rest.slice(0, end));
    this.rest = this.rest.slice(end);
    this.size = this.rest.reduce((sum, block) => sum + sizeOf(block), 0);
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
 * document. Its open segment is followed by one row; others hear only of new rows.
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
  /** So much of the buffer is in the document. */
  private read = 0;
  private text = '';
  private timer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0;
  private lastPaint = 0;
  private ending: (() => void) | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly onRows: () => void;
  private rows = 0;
  private rowsSeen = 0;
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

  /** Another number whenever the finished rows are others, or the first text is there. */
  readonly rowsVersion = (): number => this.rows;

  /** All text that arrived, shown or not yet. */
  get whole(): string {
    return this.text + this.buffer.slice(this.read);
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
    const wait = this.lastPaint + paintInterval - performance.now();
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
    this.takeIn(this.lastPaint + budget);
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

  /** Puts text into the document until there is no more of it, or no more time. */
  private takeIn(deadline: number): void {
    while (this.read < this.buffer.length) {
      const part = this.buffer.slice(this.read, this.read + slice);
      this.read += part.length;
      this.text += part;
      this.document.append(part);
      if (this.text.length <= gentle || performance.now() > deadline) break;
    }
    if (this.read < this.buffer.length) return;
    this.buffer = '';
    this.read = 0;
  }

  private refresh(): void {
    if (this.revision !== this.document.revision) {
      this.revision = this.document.revision;
      this.cutter = new Segments();
      this.rowsSeen = -1;
    }
    const rest = this.cutter.take(this.document.blocks);
    const { open } = this.document;
    this.segments = this.cutter.closed;
    this.openSegment = open ? [...rest, open] : rest;
    // One more than the finished rows; the very first text and thought make rows, too.
    const rows =
      this.segments.length * 4 + (this.text === '' ? 0 : 1) + (this.thoughts > 0 ? 2 : 0);
    if (rows !== this.rowsSeen) {
      this.rowsSeen = rows;
      this.rows++;
      this.onRows();
    }
    for (const listener of this.listeners) listener();
  }
}
