import type { ToolCall } from '#contract/tool.ts';
import { MarkdownDocument, type Block } from '#common/markdown/document.ts';

/** The blocks of one row of the list. */
export type Segment = readonly Block[];

/** A row ends after about so much text: a long reply is many rows, of which the visible ones exist. */
const segmentSize = 1_000;
const segmentBlocks = 9;
/** Two paints with new text are at least so far apart, ms: about 30 a second read as smoothly as 60. */
const paintInterval = 30;
/** And at most, for as long as paints leave no time for anything else. */
const longestInterval = 90;
/** A page that nobody sees goes on in bigger steps, ms. */
const hiddenInterval = 250;
/** The part of the time that paints may take. */
const share = 0.4;
/**
 * Text that one paint takes in, in characters: little at first, nothing being warm yet; then so much
 * that most of it is above the screen and is drawn in idle time.
 */
const firstPortion = 400;
const leastPortion = 4_000;
const mostPortion = 16_000;
/** A paint whose longer half took less, ms, is followed by one of more text; more, by one of less. */
const quickPaint = 30;
const slowPaint = 60;

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
  /** How long was thought, as far as it was seen here; undefined: its beginning was not. */
  thoughtMs: number | undefined;
  private thinksSince = 0;
  /** Calls of tools; another array after each change. */
  tools: readonly ToolCall[] = [];
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
  /** There is something that no paint showed yet. */
  private due = false;
  /** Of the last paints, about, with all that the browser had to do for them, ms. */
  private cost = 0;
  /** What the last paint took without the browser's part, ms. */
  private drawing = 0;
  private portion = firstPortion;
  private ending: (() => void) | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly onRows: () => void;
  private rows = 0;
  private rowsSeen = 0;
  private thoughts = 0;

  /**
   * @param onRows The number of rows changed, or the first text is there.
   * @param known What of it was read before.
   */
  constructor(
    onRows: () => void,
    known: { ai: string; reasoning: string; tools?: ToolCall[] | undefined },
  ) {
    this.tools = known.tools ?? [];
    this.onRows = onRows;
    this.reasoning = known.reasoning;
    if (known.reasoning !== '') this.thoughts++;
    else this.thoughtMs = 0;
    if (known.ai !== '') this.addText(known.ai);
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
    return this.text !== '' || this.reasoning !== '' || this.tools.length > 0;
  }

  readonly calls = (): readonly ToolCall[] => this.tools;

  putTool(tool: ToolCall): void {
    const known = this.tools.some(({ id }) => id === tool.id);
    this.tools = known
      ? this.tools.map((each) => (each.id === tool.id ? tool : each))
      : [...this.tools, tool];
    if (!known) {
      this.rows++;
      this.onRows();
    }
    for (const listener of this.listeners) listener();
  }

  addText(text: string): void {
    if (this.thinksSince > 0 && this.thoughtMs !== undefined)
      this.thoughtMs += Date.now() - this.thinksSince;
    this.thinksSince = 0;
    this.buffer += text;
    this.schedule();
  }

  addReasoning(text: string): void {
    if (this.thinksSince === 0) this.thinksSince = Date.now();
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
    this.ending = null;
    this.listeners.clear();
  }

  private schedule(): void {
    this.due = true;
    if (this.timer !== undefined) return;
    // Of text that is here already every paint shows much.
    const most = this.read > 0 ? paintInterval : longestInterval;
    const interval = Math.min(Math.max(this.cost / share, paintInterval), most);
    const wait = this.lastPaint + interval - performance.now();
    this.timer = setTimeout(this.paint, document.hidden ? hiddenInterval : wait);
  }

  /**
   * Outside of a frame: what React does and what the browser does to draw it are two tasks, between
   * which a tap is heard.
   */
  private readonly paint = (): void => {
    this.timer = undefined;
    this.lastPaint = performance.now();
    this.takeIn();
    this.due = this.buffer !== '';
    const ended = !this.due && this.ending !== null;
    if (ended) this.document.end();
    this.refresh();
    // React draws in a microtask.
    queueMicrotask(() => {
      this.drawing = performance.now() - this.lastPaint;
    });
    this.awaitFrame();
    const then = this.ending;
    if (ended && then) {
      this.ending = null;
      then();
    }
  };

  /** The next paint follows the frame that shows this one; the frames of a hidden page do not come. */
  private awaitFrame(): void {
    const shown = (began: number) => {
      clearTimeout(this.timer);
      cancelAnimationFrame(this.frame);
      // By then the browser has laid out and drawn what is new.
      this.timer = setTimeout(() => {
        this.timer = undefined;
        this.learn(this.drawing, performance.now() - began);
        if (this.due) this.schedule();
      });
    };
    this.frame = requestAnimationFrame(() => shown(performance.now()));
    this.timer = setTimeout(() => shown(performance.now()), hiddenInterval);
  }

  /** How much the next paint takes in, and when, follows from what the last one took. */
  private learn(drawing: number, frame: number): void {
    this.cost = this.cost * 0.7 + (drawing + frame) * 0.3;
    const longer = Math.max(drawing, frame);
    if (this.portion < leastPortion) this.portion = Math.min(this.portion * 2, leastPortion);
    else if (longer > slowPaint) this.portion = Math.max(this.portion / 2, leastPortion);
    else if (longer < quickPaint) this.portion = Math.min(this.portion * 1.5, mostPortion);
  }

  /** Puts the next portion of the text into the document. */
  private takeIn(): void {
    const part = this.buffer.slice(this.read, this.read + this.portion);
    this.read += part.length;
    this.text += part;
    this.document.append(part);
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
