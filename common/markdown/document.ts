/**
 * Splits Markdown into blocks while it is being written. A block that is finished never changes,
 * so it is lexed and rendered once; only the open one is looked at again, and its size is bounded
 * except for one list item; code grows by pieces that do not change either. What the splitter decides depends on the text
 * before a point alone, so the blocks are the same whatever pieces the text arrived in.
 */

export interface LinkTarget {
  href: string;
  title: string;
}
export type Links = Readonly<Record<string, LinkTarget>>;

export interface TextBlock {
  kind: 'text';
  text: string;
  /** The rest of a paragraph that was too long: no block syntax at its start. */
  inline: boolean;
  /** Goes on with the list, quote, table or paragraph of the block before. */
  continues: boolean;
  /** The number of the first item of a list that goes on. */
  start?: number;
  /** Reference definitions that this block uses. */
  links?: Links;
  open: boolean;
}
export interface CodeBlock {
  kind: 'code';
  language: string;
  /** The code in pieces of `linesAPiece` lines; all but the last keep their identity. */
  pieces: readonly string[];
  open: boolean;
}
export interface MathBlock {
  kind: 'math';
  text: string;
  open: boolean;
}
export type Block = TextBlock | CodeBlock | MathBlock;

type Mode = 'none' | 'paragraph' | 'table' | 'list' | 'quote' | 'indented' | 'code' | 'math';

/** Lines of code in a piece. */
export const linesAPiece = 40;
/** Characters after which a block is cut at the next line, item or sentence. */
const softLimit = 1_500;
const listLimit = 1_000;
/** Characters after which a paragraph is cut wherever it stands. */
const hardLimit = 4_000;
const rowsATable = 40;
/** Labels that are looked for in a block: one with more of them is shown as it is written. */
const mostLabels = 600;
/** How often a block is given a link whose definition came later, in a whole document. */
const mostLinked = 10_000;

const fencePattern = /^( {0,3})(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const headingPattern = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const rulePattern = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const itemPattern = /^ {0,3}([-*+]|(\d{1,9})[.)])(?:[ \t]|$)/;
const quotePattern = /^ {0,3}>/;
const underlinePattern = /^ {0,3}(?:=+|-+)[ \t]*$/;
const delimiterRowPattern = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const mathOpenPattern = /^ {0,3}(\$\$|\\\[)/;
const definitionPattern =
  /^ {0,3}\[((?:[^\\[\]]|\\.){1,200})\]:[ \t]*<?([^\s<>]{1,2000})>?(?:[ \t]+["'(]([^\n]{0,300})["')])?[ \t]*$/gm;
const innerFencePattern = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)*(`{3,}|~{3,})/;
const sentenceEnd = /[。！？；…\n]|[.!?;:,，、 ](?=\s)|\s/;

const indentOf = (line: string): number => {
  let width = 0;
  for (const char of line) {
    if (char === ' ') width += 1;
    else if (char === '\t') width += 4 - (width % 4);
    else break;
  }
  return width;
};

const interrupts = (line: string): boolean => {
  const item = itemPattern.exec(line);
  return (
    fencePattern.test(line) ||
    headingPattern.test(line) ||
    quotePattern.test(line) ||
    rulePattern.test(line) ||
    mathOpenPattern.test(line) ||
    (item !== null && line.length > item[0].length && (item[2] === undefined || +item[2] === 1))
  );
};

/** Whether a line, by its first 200 characters, can be nothing but a paragraph's. */
const isPlainLine = (line: string, first: boolean): boolean =>
  !interrupts(line) &&
  !/^ {0,3}(?:`{3}|~{3}|\||\$\$|\\\[)/.test(line) &&
  !/^[\s|:=*_-]*$/.test(line) &&
  !(first && (itemPattern.test(line) || indentOf(line) >= 4));

const listKind = (marker: string): string => (/\d/.test(marker) ? marker.slice(-1) : marker);

/** Looks, letter by letter, whether emphasis, code, a link or a formula seems open. */
class Marks {
  private readonly odd = new Set<string>();
  private square = 0;
  private round = 0;
  private tilde = false;

  take(char: string): void {
    const pair = char === '~' && this.tilde;
    this.tilde = char === '~' && !pair;
    if (pair || char === '`' || char === '*' || char === '$') {
      if (!this.odd.delete(char)) this.odd.add(char);
    } else if (char === '[') this.square++;
    else if (char === ']') this.square--;
    else if (char === '(') this.round++;
    else if (char === ')') this.round--;
  }

  get balanced(): boolean {
    return this.odd.size === 0 && this.square === 0 && this.round <= 0;
  }
}

export const labelOf = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

export class MarkdownDocument {
  /** The finished blocks, in order. Grows at its end; see `revision`. */
  readonly blocks: Block[] = [];
  /** Grows when a finished block had to be replaced (a reference got its definition). */
  revision = 0;

  private mode: Mode = 'none';
  /** The text of the open block, and what follows it in lines not looked at yet. */
  private tail = '';
  private lineStart = 0;
  private inline = false;
  private continues = false;
  private listStart: number | undefined;
  private listMarker = '';
  private listItems = 0;
  private listFirst: number | null = null;
  private blankSeen = false;
  private innerFence = '';
  private lines = 0;
  private tableHead = '';
  private searchFrom = 0;
  /** A cut fell into the line still being written: what follows is no start of a line. */
  private midLine = false;
  private fence = { marker: '', indent: 0, language: '' };
  private pieces: string[] = [];
  private pieceLines: string[] = [];
  private closing = '';
  private readonly links = new Map<string, LinkTarget>();
  private readonly wanted = new Map<string, number[]>();
  private linked = 0;
  private ended = false;

  constructor(text = '') {
    if (text) this.append(text);
  }

  append(text: string): void {
    // Carriage returns would make every line pattern twofold, and a NUL is nothing to show.
    this.tail += text.includes('\r') || text.includes('\0') ? text.replace(/[\r\0]/g, '') : text;
    for (;;) {
      const newline = this.tail.indexOf('\n', this.lineStart);
      if (newline < 0) break;
      this.takeLine(this.tail.slice(this.lineStart, newline), newline + 1);
    }
    this.cutLongLine();
  }

  /** No more text will come: closes what is open. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    const open = this.open;
    if (this.mode === 'code' && open?.kind === 'code') this.push({ ...open, open: false });
    else if (this.tail.trim() !== '') this.close(this.tail.length);
    this.tail = '';
    this.mode = 'none';
  }

  /** The block still being written, or null. */
  get open(): Block | null {
    if (this.mode === 'code') {
      const rest = this.tail.slice(this.lineStart);
      const closing = rest.trim() !== '' && this.fence.marker.startsWith(rest.trim());
      const last = closing ? this.pieceLines : [...this.pieceLines, this.unindent(rest)];
      // A new array: an open block that was handed out must not change.
      const pieces = last.length > 0 ? [...this.pieces, last.join('\n')] : [...this.pieces];
      return { ...this.codeBlock(pieces), open: true };
    }
    if (this.tail.trim() === '') return null;
    if (this.mode === 'math') return { kind: 'math', text: this.tail, open: true };
    return { ...this.textBlock(this.tail), open: true };
  }

  private textBlock(text: string): TextBlock {
    const block: TextBlock = {
      kind: 'text',
      text: this.mode === 'table' ? this.tableHead + text : text,
      inline: this.inline,
      continues: this.continues,
      open: false,
    };
    if (this.listStart !== undefined) block.start = this.listStart;
    const links = this.linksFor(text);
    if (links) block.links = links;
    return block;
  }

  private codeBlock(pieces: readonly string[]): CodeBlock {
    return {
      kind: 'code',
      language: this.fence.language,
      pieces,
      open: false,
    };
  }

  private linksFor(text: string): Links | undefined {
    if (this.links.size === 0 || !text.includes('[')) return undefined;
    const found: Record<string, LinkTarget> = {};
    let any = false;
    for (const label of labelsIn(text)) {
      const target = this.links.get(label);
      if (target) {
        found[label] = target;
        any = true;
      }
    }
    return any ? found : undefined;
  }

  private push(block: Block): void {
    this.blocks.push(block);
    if (block.kind !== 'text' || !block.text.includes('[')) return;
    const index = this.blocks.length - 1;
    for (const label of new Set(labelsIn(block.text))) {
      const users = this.wanted.get(label);
      if (users) users.push(index);
      else this.wanted.set(label, [index]);
    }
    for (const [, label, href, title] of block.text.matchAll(definitionPattern)) {
      const key = labelOf(label ?? '');
      if (this.links.has(key) || this.links.size >= 1_000) continue;
      const target = { href: href ?? '', title: title ?? '' };
      this.links.set(key, target);
      for (const user of this.wanted.get(key) ?? []) {
        const old = this.blocks[user];
        if (old?.kind !== 'text' || this.linked >= mostLinked) continue;
        this.blocks[user] = { ...old, links: { ...old.links, [key]: target } };
        this.linked++;
        this.revision++;
      }
    }
  }

  /** Closes the open block before `at` and leaves what follows as the start of the next. */
  private close(at: number): void {
    const text = this.tail.slice(0, at);
    if (text.trim() !== '') {
      if (this.mode === 'math') this.push({ kind: 'math', text, open: false });
      else this.push(this.textBlock(text));
    }
    this.startAfter(at);
    this.inline = false;
    this.continues = false;
    this.listStart = undefined;
  }

  private startAfter(at: number): void {
    this.tail = this.tail.slice(at);
    this.lineStart = Math.max(0, this.lineStart - at);
    this.mode = 'none';
    this.lines = 0;
    this.searchFrom = 0;
    this.blankSeen = false;
    this.innerFence = '';
    this.tableHead = '';
  }

  private takeLine(line: string, end: number): void {
    if (this.mode === 'code') return this.takeCodeLine(line, end);
    if (this.mode === 'math') return this.takeMathLine(line, end);
    if (line.trim() === '') return this.takeBlank(end);

    if (this.mode !== 'none' && !this.midLine) {
      const on = this.goesOn(line);
      if (on !== 'yes') this.close(this.lineStart);
      if (on === 'cut') this.continues = true;
      end = this.tail.indexOf('\n', this.lineStart) + 1;
    }
    this.midLine = false;
    if (this.mode === 'none') {
      this.begin(line, end);
      return;
    }
    this.lines++;
    this.lineStart = end;
    if (this.mode === 'paragraph') {
      if (this.lines > 1 && underlinePattern.test(line)) this.close(end);
      else this.cutParagraph(end);
    }
  }

  private takeBlank(end: number): void {
    if (this.mode === 'none') {
      this.startAfter(end);
      this.lineStart = 0;
      return;
    }
    this.lineStart = end;
    if (this.mode === 'list' || this.mode === 'indented') this.blankSeen = true;
    else this.close(end);
  }

  /** Decides by its first line what the new block is. */
  private begin(line: string, end: number): void {
    const fence = fencePattern.exec(line);
    if (fence) {
      this.fence = {
        marker: fence[2] ?? fence[4] ?? '```',
        indent: fence[1]?.length ?? 0,
        language: (fence[3] ?? fence[5] ?? '').trim().slice(0, 60),
      };
      this.startAfter(end);
      this.mode = 'code';
      return;
    }
    this.lines = 1;
    this.lineStart = end;
    const math = mathOpenPattern.exec(line);
    if (math) {
      this.mode = 'math';
      this.closing = math[1] === '$$' ? '$$' : '\\]';
      const rest = line.slice(math[0].length);
      if (rest.includes(this.closing)) {
        // A formula with words behind it belongs to a paragraph.
        if (!rest.trimEnd().endsWith(this.closing)) this.mode = 'paragraph';
        else this.close(end);
      }
      return;
    }
    if (headingPattern.test(line) || rulePattern.test(line)) {
      this.mode = 'paragraph';
      this.close(end);
      return;
    }
    const item = itemPattern.exec(line);
    if (item) {
      this.mode = 'list';
      this.listMarker = listKind(item[1] ?? '-');
      this.listFirst = item[2] === undefined ? null : +item[2];
      this.listItems = 1;
      this.trackInnerFence(line);
    } else if (quotePattern.test(line)) {
      this.mode = 'quote';
      this.trackInnerFence(line);
    } else if (indentOf(line) >= 4) {
      this.mode = 'indented';
    } else {
      this.mode = 'paragraph';
      this.cutParagraph(end);
    }
  }

  /** Whether a line that is not blank belongs to the open block. May cut the block itself. */
  private goesOn(line: string): 'yes' | 'no' | 'cut' {
    switch (this.mode) {
      case 'list':
        return this.listGoesOn(line) ? 'yes' : 'no';
      case 'quote':
        if (!quotePattern.test(line)) {
          return this.innerFence === '' && !interrupts(line) ? 'yes' : 'no';
        }
        if (this.lineStart > softLimit && this.innerFence === '') this.cutHere();
        this.trackInnerFence(line);
        return 'yes';
      case 'indented':
        if (indentOf(line) < 4) return 'no';
        return this.lineStart <= hardLimit ? 'yes' : 'cut';
      case 'table':
        if (interrupts(line)) return 'no';
        if (this.lines >= rowsATable + 2) {
          const head = this.tableHead || this.tail.split('\n', 2).join('\n') + '\n';
          this.cutHere();
          this.mode = 'table';
          this.tableHead = head;
          this.lines = 2;
        }
        return 'yes';
      default:
        return this.paragraphGoesOn(line);
    }
  }

  private paragraphGoesOn(line: string): 'yes' | 'no' | 'cut' {
    if (underlinePattern.test(line)) return 'yes';
    if (!this.inline && line.includes('-') && delimiterRowPattern.test(line)) {
      const before = this.tail.slice(0, this.lineStart - 1);
      const headAt = before.lastIndexOf('\n') + 1;
      const head = before.slice(headAt);
      if (head.includes('|') && line.includes('|')) {
        if (headAt > 0) this.close(headAt);
        this.mode = 'table';
        this.lines = 1;
        return 'yes';
      }
    }
    if (interrupts(line)) return 'no';
    return this.lineStart <= softLimit ? 'yes' : 'cut';
  }

  private listGoesOn(line: string): boolean {
    const blankBefore = this.blankSeen;
    this.blankSeen = false;
    if (this.innerFence !== '') {
      this.trackInnerFence(line);
      return true;
    }
    const item = rulePattern.test(line) ? null : itemPattern.exec(line);
    if (item && indentOf(line) < 2) {
      if (listKind(item[1] ?? '-') !== this.listMarker) return false;
      if (this.lineStart > listLimit) {
        const first = this.listFirst;
        const items = this.listItems;
        this.cutHere();
        this.mode = 'list';
        if (first !== null) this.listStart = first + items;
      }
      this.listItems++;
      this.trackInnerFence(line);
      return true;
    }
    if (indentOf(line) >= 2) {
      this.trackInnerFence(line);
      return true;
    }
    return !blankBefore && !interrupts(line);
  }

  private trackInnerFence(line: string): void {
    const marker = innerFencePattern.exec(line)?.[1];
    if (marker === undefined) return;
    if (this.innerFence === '') this.innerFence = marker;
    else if (marker.startsWith(this.innerFence)) this.innerFence = '';
  }

  /** Ends the open block before the current line; the same kind of block goes on after it. */
  private cutHere(): void {
    const { mode } = this;
    const end = this.lineStart;
    this.close(end);
    this.lineStart = 0;
    this.mode = mode;
    this.continues = true;
  }

  private takeMathLine(line: string, end: number): void {
    this.lineStart = end;
    if (line.trim() === '') {
      // An empty line inside: it was no formula.
      this.mode = 'paragraph';
      this.close(end);
    } else if (end > hardLimit) {
      this.mode = 'paragraph';
      this.close(end);
    } else if (line.includes(this.closing)) {
      if (!line.trimEnd().endsWith(this.closing)) this.mode = 'paragraph';
      this.close(end);
    }
  }

  private unindent(line: string): string {
    let at = 0;
    while (at < this.fence.indent && line[at] === ' ') at++;
    return line.slice(at);
  }

  private takeCodeLine(line: string, end: number): void {
    const trimmed = line.trim();
    const isEnd =
      trimmed.startsWith(this.fence.marker) &&
      indentOf(line) < 4 &&
      trimmed === (trimmed[0] ?? '').repeat(trimmed.length);
    if (isEnd) {
      if (this.pieceLines.length > 0) this.pieces.push(this.pieceLines.join('\n'));
      this.push(this.codeBlock(this.pieces));
      this.pieces = [];
      this.pieceLines = [];
      this.startAfter(end);
      return;
    }
    this.pieceLines.push(this.unindent(line));
    this.tail = this.tail.slice(end);
    this.lineStart = 0;
    if (this.pieceLines.length < linesAPiece) return;
    this.pieces.push(this.pieceLines.join('\n'));
    this.pieceLines = [];
  }

  /** Cuts a paragraph that is too long inside the text before `end` (whole lines). */
  private cutParagraph(end: number): void {
    while (this.mode === 'paragraph' && end > softLimit) {
      const at = this.findCut(end);
      if (at === null || at >= end) return;
      this.cutInline(at);
      end -= at;
      this.lineStart = end;
    }
  }

  private cutInline(at: number): void {
    this.mode = 'paragraph';
    this.close(at);
    this.mode = 'paragraph';
    this.inline = true;
    this.continues = true;
    this.lines = 1;
  }

  /** Cuts in the line still being written, once it is a paragraph's for certain. */
  private cutLongLine(): void {
    while (this.tail.length > softLimit) {
      if (this.mode !== 'none' && this.mode !== 'paragraph') return;
      if (!this.midLine) {
        const line = this.tail.slice(this.lineStart, this.lineStart + 200);
        if (line.length < 200 || !isPlainLine(line, this.mode === 'none')) return;
        if (this.lineStart > softLimit) {
          this.close(this.lineStart);
          this.continues = true;
          continue;
        }
      }
      const at = this.findCut(this.tail.length);
      if (at === null) return;
      this.cutInline(at);
      this.lineStart = 0;
      this.midLine = true;
    }
  }

  /**
   * The first place after `softLimit` characters where a sentence ends outside every emphasis, or
   * else the hard limit. Depends on the text before that place alone.
   */
  private findCut(end: number): number | null {
    const from = Math.max(softLimit, this.searchFrom);
    const to = Math.min(end - 1, hardLimit);
    const marks = new Marks();
    for (let at = from < to ? 0 : to; at < to; at++) {
      const char = this.tail[at] ?? '';
      marks.take(char);
      if (at < from) continue;
      const strong = /[。！？；\n]/.test(char) || (/[.!?]/.test(char) && this.tail[at + 1] === ' ');
      const weak = at > hardLimit / 2 && sentenceEnd.test(char);
      if ((strong || weak) && marks.balanced) return at + 1;
      this.searchFrom = at + 1;
    }
    if (end <= hardLimit + 1) return null;
    const code = this.tail.charCodeAt(hardLimit - 1);
    return code >= 0xd800 && code < 0xdc00 ? hardLimit + 1 : hardLimit;
  }
}

function* labelsIn(text: string): Generator<string> {
  let left = mostLabels;
  for (const [, label] of text.matchAll(/\[((?:[^\\[\]]|\\.){1,200})\]/g)) {
    if (label !== undefined) yield labelOf(label);
    left--;
    if (left === 0) return;
  }
}

/** The blocks of a text that is whole. */
export const blocksOf = (text: string): Block[] => {
  const document = new MarkdownDocument(text);
  document.end();
  return document.blocks;
};
