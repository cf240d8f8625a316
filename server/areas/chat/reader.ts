import type { ReplyLog } from './reply-log.ts';
import { heartbeat } from '#server/http/event-stream.ts';
import type { Sink } from '#server/http/sink.ts';
import { doneFrame, errorEventId, errorFrame, textFrame, toolFrame } from './frames.ts';
import type { StoredTool } from '#contract/tool.ts';
import type { ToolViewer } from './stored-tool.ts';

/** How a reply ended; null while it is being written. */
export interface Ending {
  /** What ended it early. */
  error: { code: string; message: string } | null;
}

/** Units of text in one event of a catch-up, and so many of them before others have a turn. */
const sliceSize = 32_768;
const slicesATurn = 4;

/**
 * One connection that reads a reply. It holds nothing but its position: while the other side is
 * slow nothing is queued for it, and afterwards it gets what it missed in one piece.
 */
export class Reader {
  readonly #sink: Sink;
  #log: ReplyLog;
  #position: number;
  #ending: Ending | null = null;
  #closed = false;
  /** When the sink stopped taking, ms; 0 while it takes. */
  #blockedSince = 0;
  /** Others have a turn, and the catch-up goes on behind them. */
  #rests = false;
  #lastWrite = Date.now();
  readonly #viewer: ToolViewer | null;
  /** Calls of tools as the other side was told them last. */
  readonly #told = new Map<string, StoredTool>();

  /**
   * @param position The last event's id that the other side has; 0 for none.
   * @param viewer null: the other side knows no calls of tools
   */
  constructor(sink: Sink, log: ReplyLog, position: number, viewer: ToolViewer | null = null) {
    this.#viewer = viewer;
    this.#sink = sink;
    this.#log = log;
    this.#position = position;
    this.#catchUp();
  }

  /** A piece was appended; `frame` carries what lies between the two positions. */
  push(frame: string, start: number, end: number): void {
    if (this.#blockedSince !== 0 || this.#closed || this.#rests) return;
    if (this.#position === start) {
      this.#position = end;
      this.#write(frame);
    } else {
      this.#catchUp();
    }
  }

  /** Another process's reply has grown, or this one begins only now. */
  follow(log: ReplyLog): void {
    this.#log = log;
    this.#catchUp();
  }

  /** A call of a tool stands otherwise. */
  pushTools(): void {
    if (this.#blockedSince === 0 && !this.#closed) this.#catchUp();
  }

  #tellTools(): void {
    if (this.#viewer === null) return;
    for (const tool of this.#log.tools) {
      if (this.#blockedSince !== 0 || this.#closed) return;
      if (this.#told.get(tool.id) === tool) continue;
      this.#told.set(tool.id, tool);
      this.#write(toolFrame(this.#position, tool, this.#viewer));
    }
  }

  #catchUp(): void {
    if (this.#rests) return;
    for (let left = slicesATurn; this.#blockedSince === 0 && !this.#closed; left -= 1) {
      if (left === 0) return this.#rest();
      let frames = '';
      while (frames.length < sliceSize) {
        const slice = this.#log.sliceFrom(this.#position, sliceSize);
        if (!slice) break;
        this.#position = slice.end;
        frames += textFrame(slice.kind, slice.text, slice.end);
      }
      if (frames === '') break;
      this.#write(frames);
    }
    if (this.#log.tools.length > 0) this.#tellTools();
    if (this.#blockedSince === 0 && this.#ending) this.#finish(this.#ending);
  }

  #rest(): void {
    this.#rests = true;
    setImmediate(() => {
      this.#rests = false;
      this.#catchUp();
    });
  }

  #write(frame: string): void {
    this.#lastWrite = Date.now();
    if (this.#sink.write(frame)) return;
    this.#blockedSince = this.#lastWrite;
    this.#sink.once('drain', () => {
      this.#blockedSince = 0;
      this.#catchUp();
    });
  }

  /** The reply is over: what is missing follows, then the terminal events. */
  end(ending: Ending): void {
    this.#ending = ending;
    this.#catchUp();
  }

  #finish({ error }: Ending): void {
    if (this.#closed) return;
    this.#closed = true;
    const news = error && this.#position < errorEventId;
    this.#sink.write((news ? errorFrame(error.code, error.message) : '') + doneFrame);
    this.#sink.end();
  }

  /** The connection is gone, or is to end without a terminal event so that its client asks again. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sink.end();
  }

  /** Keeps a silent connection alive, and lets go of one that has taken nothing for too long. */
  tend(now: number, { heartbeatMs, stuckMs }: { heartbeatMs: number; stuckMs: number }): void {
    if (this.#closed) return;
    if (this.#blockedSince === 0) {
      if (now - this.#lastWrite >= heartbeatMs) this.#write(heartbeat.frame);
    } else if (now - this.#blockedSince >= stuckMs) {
      this.#closed = true;
      this.#sink.destroy();
    }
  }
}
