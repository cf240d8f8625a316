import { fromXmlText, toXmlText } from '#server/xml-text.ts';
import { unmarked, wordsOf, type Mark, type Marked } from './marks.ts';

/** A document whose sentences can be taken out and put back. */
export interface Translatable {
  segments: string[];
  /** @param targets as many as segments, in their order */
  write: (targets: readonly string[], options: { bilingual: boolean }) => Uint8Array;
  /** Of the file that is written. */
  ending: string;
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A piece of a document: as it is, or what is translated with what stands before it. */
type Piece = string | { marked: Marked };

const assembled = (
  pieces: readonly Piece[],
  ending: string,
  join: (target: string, marked: Marked, bilingual: boolean) => string,
): Translatable => {
  const segments = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.marked]));
  return {
    segments: segments.map(({ text }) => text),
    ending,
    write: (targets, { bilingual }) => {
      let at = 0;
      const made = pieces.map((piece) => {
        if (typeof piece === 'string') return piece;
        const target = targets[at] ?? piece.marked.text;
        at += 1;
        return join(target, piece.marked, bilingual);
      });
      return utf8(made.join(''));
    },
  };
};

const simple = (text: string): Marked => ({ text, marks: [] });

/** Each line that is not empty. */
export const plainText = (text: string): Translatable => {
  const pieces = text
    .split(/(\n)/)
    .map((line): Piece => (line.trim() === '' ? line : { marked: simple(line) }));
  return assembled(pieces, 'txt', (target, { text }, bilingual) =>
    bilingual ? `${text}\n${target}` : target,
  );
};

/** SubRip: the words of each cue; numbers and times stay. */
export const subtitles = (text: string): Translatable => {
  const pieces: Piece[] = [];
  for (const cue of text.split(/(\n\s*\n)/)) {
    const lines = cue.split('\n');
    const time = lines.findIndex((line) => line.includes('-->'));
    if (time < 0 || time === lines.length - 1) {
      pieces.push(cue);
      continue;
    }
    pieces.push(`${lines.slice(0, time + 1).join('\n')}\n`);
    pieces.push({
      marked: simple(
        lines
          .slice(time + 1)
          .join(' ')
          .trim(),
      ),
    });
  }
  return assembled(
    pieces.filter((piece) => typeof piece === 'string' || piece.marked.text !== ''),
    'srt',
    (target, { text }, bilingual) => (bilingual ? `${target}\n${text}` : target),
  );
};

// ---- Markdown ---------------------------------------------------------------

const inline =
  /(`+)[^`]*?\1|!\[[^\]\n]*\]\([^)\n]*\)|\[\^[^\]\n]+\]|\$\$?[^$\n]+\$\$?|<[^<>\n]+>|https?:\/\/[^\s)<>，。；、]+|\[([^\]\n]*)\]\(([^)\n]*)\)/g;

const markdownLine = (text: string): Marked => {
  const marks: Mark[] = [];
  const marked = text.replaceAll(inline, (whole: string, _tick, words?: string, url?: string) => {
    if (words !== undefined && words.trim() !== '') {
      marks.push({ before: '[', after: `](${url ?? ''})` });
      return `<${marks.length}>${words}</${marks.length}>`;
    }
    marks.push({ whole });
    return `<${marks.length}/>`;
  });
  return { text: marked, marks };
};

const lineStart =
  /^(\s*(?:>\s?)*\s*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,4}[.)]\s+)?)([^]*)$/;
const han = /[\p{Script=Han}，。！？；：、]$/u;

const isWords = (text: string): boolean => wordsOf(text) !== '';

/** A Markdown line that stays as it is. */
const stays = (line: string): boolean =>
  line.trim() === '' ||
  /^\s*(?:[-*_=]\s*){3,}$/.test(line) ||
  /^\s*\[[^\]]+\]:\s/.test(line) ||
  /^\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$/.test(line);

export const markdown = (text: string): Translatable => {
  const pieces: Piece[] = [];
  let fence = '';
  let front = text.startsWith('---\n');
  let open: { marked: Marked } | null = null;
  let afterBlank = true;
  const lines = text.split('\n');
  lines.forEach((line, at) => {
    const end = at === lines.length - 1 ? '' : '\n';
    const keep = () => {
      pieces.push(line + end);
      open = null;
    };
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (front) {
      if (at > 0 && line.trim() === '---') front = false;
      keep();
    } else if (fence !== '') {
      if (mark.startsWith(fence)) fence = '';
      keep();
    } else if (mark !== '') {
      fence = mark;
      keep();
    } else if (stays(line) || (afterBlank && /^(?: {4}|\t)/.test(line))) keep();
    else if (line.trim().startsWith('|')) {
      open = null;
      // The cells of a row, each by itself.
      for (const [each, cell] of line.split(/(?<!\\)\|/).entries()) {
        if (each > 0) pieces.push('|');
        const [, before = '', words = '', after = ''] = /^(\s*)([^]*?)(\s*)$/.exec(cell) ?? [];
        const marked = markdownLine(words);
        if (isWords(marked.text)) pieces.push(before, { marked }, after);
        else pieces.push(cell);
      }
      pieces.push(end);
    } else {
      const [, start = '', words = ''] = lineStart.exec(line) ?? [];
      if (start.trim() === '' && open && !line.startsWith('    ')) {
        // The paragraph goes on: its lines are one text.
        const glue: string = han.test(open.marked.text) ? '' : ' ';
        const more = markdownLine(words);
        const shift = open.marked.marks.length;
        open.marked.text +=
          glue +
          more.text.replaceAll(
            /<(\/?)(\d+)(\/?)>/g,
            (_, a: string, n: string, b: string) => `<${a}${Number(n) + shift}${b}>`,
          );
        open.marked.marks.push(...more.marks);
        afterBlank = false;
        return;
      }
      const marked = markdownLine(words);
      if (!isWords(marked.text)) keep();
      else {
        const piece: { marked: Marked } = { marked };
        pieces.push(start, piece, end);
        open = /^\s*(?:>\s?)*\s*#/.test(start) ? null : piece;
      }
    }
    afterBlank = line.trim() === '';
  });
  return assembled(pieces, 'md', (target, { marks }) => unmarked(target, marks));
};

// ---- HTML -------------------------------------------------------------------

const blocks =
  /^(?:address|article|aside|blockquote|body|br|button|caption|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|label|legend|li|link|main|meta|nav|ol|option|p|section|select|summary|table|tbody|td|tfoot|th|thead|title|tr|ul)$/;
const untouched = /^(?:script|style|pre|code|textarea|svg|math|template|noscript)$/;

/** The pieces of a page: tags, comments and what stands between them. */
export const htmlTokens = (text: string): string[] =>
  text.match(/<!--[^]*?-->|<[^<>]*>|[^<]+|</g) ?? [];

const tagName = (token: string): string =>
  /^<\/?\s*([a-z][\w-]*)/i.exec(token)?.[1]?.toLowerCase() ?? '';

export const html = (text: string): Translatable => {
  const pieces: Piece[] = [];
  let run: string[] = [];
  const flush = () => {
    const tokens = run;
    run = [];
    const [, before = ''] = /^(\s*)/.exec(tokens[0] ?? '') ?? [];
    const marks: Mark[] = [];
    let marked = '';
    for (const token of tokens)
      if (token.startsWith('<')) {
        marks.push({ whole: token });
        marked += `<${marks.length}/>`;
      } else
        marked += fromXmlText(token)
          .replaceAll(/<(\/?\d+\/?)>/g, '‹$1›')
          .replaceAll(/\s+/g, ' ');
    if (isWords(marked)) pieces.push(before, { marked: { text: marked.trim(), marks } });
    else pieces.push(...tokens);
  };
  let inside = '';
  /** Where in the run that begins. */
  let begun = 0;
  for (const token of htmlTokens(text)) {
    const name = token.startsWith('<') ? tagName(token) : '';
    if (inside !== '') {
      run.push(token);
      if (name === inside && token.startsWith('</')) inside = '';
      // All of it is one mark, or one piece that stays.
      if (inside === '') {
        const whole = run.splice(begun).join('');
        if (name === 'code') run.push(whole);
        else {
          flush();
          pieces.push(whole);
        }
      }
    } else if (untouched.test(name) && !token.startsWith('</') && !token.endsWith('/>')) {
      begun = run.length;
      run.push(token);
      inside = name;
    } else if (blocks.test(name) || token.startsWith('<!')) {
      flush();
      pieces.push(token);
    } else run.push(token);
  }
  flush();
  return assembled(pieces, 'html', (target, { marks }) => unmarked(target, marks, toXmlText));
};
