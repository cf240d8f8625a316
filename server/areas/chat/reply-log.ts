import type { StoredTool } from '#contract/tool.ts';

/** What a reply consists of; kinds alternate in `parts` in this order. */
export type PartKind = 'reasoning' | 'text';
const kinds = ['reasoning', 'text'] as const;

export interface Slice {
  kind: PartKind;
  text: string;
  /** Position after it; the id of the event that carries it. */
  end: number;
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;

/** A part of a reply: its number, and the position and letters of each kind before it. */
const beginning = { index: 0, start: 0, reasoning: 0, text: 0 };

/**
 * The text of a reply in the order in which it came. Positions count UTF-16 units over reasoning
 * and text together; they never stand inside a character.
 */
export class ReplyLog {
  text = '';
  reasoning = '';
  /** See the column history.parts. */
  parts: number[] = [];
  length = 0;
  /** How long was thought, ms. */
  thoughtMs = 0;
  #thinksSince: number | null = null;
  /** Calls of tools, in their order; they take no positions. */
  tools: StoredTool[] = [];
  /** The part that was read last, and what lies before it. */
  #at = { ...beginning };
  /** First half of a character whose second half has not come yet. */
  #half = '';
  #halfKind: PartKind = 'text';

  /** Takes a piece; gives what became readable by it, which may be less or nothing. */
  append(kind: PartKind, piece: string): string {
    // PostgreSQL has no NUL in a text.
    let text = piece.includes('\0') ? piece.replaceAll('\0', '') : piece;
    if (this.#half !== '') {
      if (this.#halfKind === kind) text = this.#half + text;
      this.#half = '';
    }
    if (text === '') return '';
    if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
      this.#half = text.slice(-1);
      this.#halfKind = kind;
      text = text.slice(0, -1);
      if (text === '') return '';
    }
    this.#add(kind, text);
    return text;
  }

  /** What was thought is over when something else is said, or the reply ends. */
  endThought(): void {
    if (this.#thinksSince === null) return;
    this.thoughtMs += Math.round(performance.now() - this.#thinksSince);
    this.#thinksSince = null;
  }

  #add(kind: PartKind, text: string): void {
    if (kind === 'text') {
      this.text += text;
      this.endThought();
    } else {
      this.reasoning += text;
      this.#thinksSince ??= performance.now();
    }
    this.length += text.length;
    const { parts } = this;
    if (kinds[(parts.length - 1) % 2] === kind) {
      parts[parts.length - 1] = (parts.at(-1) ?? 0) + text.length;
    } else {
      if (parts.length === 0 && kind === 'text') parts.push(0);
      parts.push(text.length);
    }
  }

  /** What follows a position, `most` units of it at most; null at the end. */
  sliceFrom(position: number, most: number): Slice | null {
    if (position >= this.length) return null;
    // Who reads on is in the part of before, or behind it.
    if (position < this.#at.start) this.#at = { ...beginning };
    const at = this.#at;
    for (; at.index < this.parts.length; at.index += 1) {
      const size = this.parts[at.index] ?? 0;
      const kind = kinds[at.index % 2] ?? 'text';
      if (position < at.start + size) {
        const from = at[kind] + position - at.start;
        const source = kind === 'text' ? this.text : this.reasoning;
        let to = Math.min(at[kind] + size, from + most);
        if (isHighSurrogate(source.charCodeAt(to - 1)) && to < at[kind] + size) to += 1;
        return { kind, text: source.slice(from, to), end: position + to - from };
      }
      at.start += size;
      at[kind] += size;
    }
    this.#at = { ...beginning };
    return null;
  }

  /** Whether this is the other with more, or nothing, behind it. */
  continues(other: ReplyLog): boolean {
    return this.text.startsWith(other.text) && this.reasoning.startsWith(other.reasoning);
  }

  /** Puts a call as it now stands into its place, or behind the others. */
  putTool(tool: StoredTool): void {
    const at = this.tools.findIndex(({ id }) => id === tool.id);
    this.tools =
      at < 0
        ? [...this.tools, tool]
        : this.tools.map((each) => (each.id === tool.id ? tool : each));
  }

  /** The same text as it stands in a row. */
  static of(row: {
    ai: string;
    reasoning: string;
    parts: number[];
    tools?: StoredTool[] | null;
    thoughtMs?: number;
  }): ReplyLog {
    const log = new ReplyLog();
    log.thoughtMs = row.thoughtMs ?? 0;
    log.text = row.ai;
    log.reasoning = row.reasoning;
    log.parts = row.parts;
    log.length = row.ai.length + row.reasoning.length;
    log.tools = row.tools ?? [];
    return log;
  }
}
