import type { MarkedToken, Token, Tokens } from 'marked';
import { blocksOf } from '#common/markdown/document.ts';
import { decodeEntities } from '#common/markdown/entities.ts';
import { tokensOf } from '#common/markdown/lex.ts';
import { safeImage } from '#common/markdown/safe-url.ts';
import { diagramAddress } from './pdf-image.ts';
import type { Style } from './pdf-line.ts';
import { deepest, formulaRun, hiddenSource, runsOf } from './pdf-runs.ts';
import { drawImage, showImages } from './pdf-shown-image.ts';
import { colors, plain, sizes, type Writer, writeText } from './pdf-style.ts';
import { table } from './pdf-table.ts';

const codeLeading = 1.45;

const paragraph = (
  writer: Writer,
  tokens: readonly Token[] | undefined,
  style: Style,
  after: number,
) => {
  const { flow, breaker } = writer;
  const found: Tokens.Image[] = [];
  const runs = runsOf(writer, tokens, style, found);
  if (runs.some((run) => !('text' in run) || run.text.trim() !== ''))
    flow.lines(breaker.breakLines(runs, flow.width), { size: style.size });
  showImages(writer, found);
  flow.space(after);
};

const code = (writer: Writer, text: string, language: string) => {
  const drawing = isDiagram(language) ? writer.images.get(diagramAddress + text) : null;
  if (drawing) {
    drawImage(writer, drawing);
    return;
  }
  const { flow, breaker } = writer;
  const style: Style = { kind: 'mono', size: sizes.code, color: colors.ink };
  flow.need(44);
  flow.inside({ left: 9, right: 9, pad: 7, color: colors.code }, () => {
    if (language !== '')
      writeText(writer, language, { kind: 'plain', size: 7, color: colors.second });
    for (const source of text.replace(/\n$/, '').split('\n'))
      flow.lines(breaker.breakLines([{ text: source, style }], flow.width, true), {
        size: sizes.code,
        leading: codeLeading,
      });
  });
  flow.space(8);
};

const formula = (writer: Writer, tex: string) => {
  const { flow, breaker } = writer;
  const run = formulaRun(writer, tex, true, { ...plain, size: 11.5 }, flow.width);
  const lines = breaker.breakLines([run], flow.width);
  const [line] = lines;
  flow.space(2);
  if ('box' in run && line) {
    const { height, above } = flow.sizeOf(line, 1.2, plain.size);
    flow.need(height);
    flow.paintGrounds(height);
    flow.drawLine(line, flow.left + Math.max(0, (flow.width - line.width) / 2), flow.y + above);
    flow.y += height;
  } else flow.lines(lines, { size: plain.size });
  flow.space(8);
};

/** One display formula stands in the middle; anything else is a paragraph. */
const displayOr = (writer: Writer, tokens: readonly Token[] | undefined, style: Style) => {
  const tex = formulaIn(tokens);
  if (tex === null) paragraph(writer, tokens, style, 6);
  else formula(writer, tex);
};

const list = (writer: Writer, token: Tokens.List, style: Style, depth: number, start?: number) => {
  const { flow, breaker } = writer;
  let at = start ?? (typeof token.start === 'number' ? token.start : 1);
  for (const item of token.items) {
    const indent = token.ordered ? 20 : 15;
    const marker = item.task ? null : token.ordered ? `${at}.` : depth % 2 === 1 ? '•' : '◦';
    flow.need(style.size * 1.6);
    const from = { x: flow.left, y: flow.y };
    if (marker !== null) {
      const [line] = breaker.breakLines([{ text: marker, style }], 60);
      if (line) {
        const { above } = flow.sizeOf(line, 1.55, style.size);
        const x = token.ordered ? from.x + Math.max(0, indent - 5 - line.width) : from.x + 3;
        // Drawn with the first line, on whichever page that is.
        flow.paintGrounds(0);
        flow.drawLine(line, x, from.y + above);
      }
    } else drawTask(writer, item.checked === true, from, style);
    flow.inside({ left: indent }, () => blocks(writer, item.tokens, style, depth + 1, item.loose));
    at += 1;
  }
  flow.space(depth > 1 ? 2 : 5);
};

const drawTask = (
  writer: Writer,
  done: boolean,
  { x, y }: { x: number; y: number },
  style: Style,
) => {
  const { flow } = writer;
  const top = y + style.size * 0.42;
  flow.write(`q 0.8 w 0.36 0.39 0.45 RG ${(x + 1).toFixed(2)} ${top.toFixed(2)} 8 8 re S`);
  if (done)
    flow.write(
      `1.2 w ${(x + 2.6).toFixed(2)} ${(top + 4.2).toFixed(2)} m ${(x + 4.4).toFixed(2)} ${(top + 6).toFixed(2)} l ${(x + 7.6).toFixed(2)} ${(top + 2).toFixed(2)} l S`,
    );
  flow.write('Q');
  const words = hiddenSource(writer, done ? '[x] ' : '[ ] ', { ...style, kind: 'mono' }, 8);
  words?.(x + 1, top + 8);
};

const block = (writer: Writer, generic: Token, style: Style, depth: number, loose: boolean) => {
  const { flow } = writer;
  const token = generic as MarkedToken;
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return;
    case 'heading': {
      const size = sizes.headings[token.depth - 1] ?? style.size;
      flow.space(7);
      flow.need(size * 3.4);
      paragraph(writer, token.tokens, { ...style, kind: 'bold', size }, 5);
      return;
    }
    case 'hr':
      flow.space(6);
      flow.need(4);
      flow.fill(flow.left, flow.y, flow.width, 0.7, colors.line);
      flow.space(8);
      return;
    case 'blockquote':
      flow.inside({ left: 12, bar: colors.line }, () =>
        blocks(writer, token.tokens, { ...style, color: colors.second }, depth + 1),
      );
      flow.space(6);
      return;
    case 'list':
      list(writer, token, style, depth);
      return;
    case 'table':
      table(writer, token);
      return;
    case 'code':
      code(writer, token.text, token.lang ?? '');
      return;
    case 'paragraph':
      displayOr(writer, token.tokens, style);
      return;
    case 'text':
      paragraph(
        writer,
        'tokens' in token && token.tokens ? token.tokens : [token],
        style,
        loose ? 4 : 2,
      );
      return;
    default:
      displayOr(writer, [generic], style);
  }
};

/** The source of a paragraph that is one display formula; else null. */
const formulaIn = ([token, ...more]: readonly Token[] = []): string | null =>
  more.length === 0 && token?.type === 'math' && 'display' in token && token['display'] === true
    ? 'text' in token
      ? String(token.text)
      : ''
    : null;

const blocks = (
  writer: Writer,
  tokens: readonly Token[] | undefined,
  style: Style,
  depth: number,
  loose = false,
) => {
  if (!tokens) return;
  if (depth > deepest) {
    writeText(writer, tokens.map((token) => token.raw).join(''), style);
    return;
  }
  // Of a tight list the words stand beside each other in tokens that are no blocks.
  for (const token of tokens) block(writer, token, style, depth + 1, loose);
};

/** Writes Markdown as it is shown on the page. */
export const writeMarkdown = (writer: Writer, text: string): void => {
  for (const each of blocksOf(text)) {
    if (each.kind === 'code') code(writer, each.pieces.join('\n'), each.language);
    else if (each.kind === 'math')
      formula(
        writer,
        each.text
          .trim()
          .replace(/^(?:\$\$|\\\[)/, '')
          .replace(/(?:\$\$|\\\])$/, ''),
      );
    else {
      const tokens = tokensOf(each);
      const [first] = tokens;
      if (each.start !== undefined && first?.type === 'list') {
        list(writer, first as Tokens.List, plain, 1, each.start);
        blocks(writer, tokens.slice(1), plain, 0);
      } else blocks(writer, tokens, plain, 0);
    }
  }
};

const isDiagram = (language: string): boolean => /^mermaid\b/i.test(language);

/** So much of a text is looked through for diagrams. */
const diagramsWithin = 200_000;

/** What the diagrams of a Markdown text are drawn from, of those that stand within nothing else. */
export const diagramsIn = (text: string): string[] => {
  const found: string[] = [];
  if (!text.includes('mermaid')) return found;
  let fence = '';
  let indent = 0;
  let lines: string[] | null = null;
  const end = (): void => {
    if (lines) found.push(lines.join('\n'));
    fence = '';
    lines = null;
  };
  for (const line of text.slice(0, diagramsWithin).split(/\r?\n/)) {
    const spaces = line.length - line.trimStart().length;
    const words = line.trim();
    if (fence === '') {
      const opens = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/.exec(words);
      if (!opens || spaces > 3) continue;
      [fence, indent] = [opens[1] ?? '', spaces];
      if (isDiagram((opens[2] ?? '').trim())) lines = [];
    } else if (words.startsWith(fence) && spaces < 4 && /^(.)\1*$/.test(words)) end();
    else lines?.push(line.slice(Math.min(spaces, indent)));
  }
  end();
  return found;
};

/** The addresses of all images in Markdown that may be loaded. */
export const imagesIn = (text: string): string[] => {
  if (!text.includes('](') && !text.includes('![')) return [];
  const found: string[] = [];
  const look = (tokens: readonly Token[], depth: number) => {
    if (depth > 40) return;
    for (const generic of tokens) {
      const token = generic as MarkedToken;
      if (token.type === 'image') {
        const address = safeImage(decodeEntities(token.href));
        if (address !== null) found.push(address);
      }
      if (token.type === 'list') for (const item of token.items) look(item.tokens, depth + 1);
      else if (token.type === 'table') {
        for (const cell of [...token.header, ...token.rows.flat()]) look(cell.tokens, depth + 1);
      } else if ('tokens' in token && token.tokens) look(token.tokens, depth + 1);
    }
  };
  for (const each of blocksOf(text)) if (each.kind === 'text') look(tokensOf(each), 0);
  return found;
};
