import type { MarkedToken, Token, Tokens } from 'marked';
import { blocksOf } from '#common/markdown/document.ts';
import { decodeEntities } from '#common/markdown/entities.ts';
import { tokensOf } from '#common/markdown/lex.ts';
import { safeImage, safeLink } from '#common/markdown/safe-url.ts';
import type { Formulas } from './pdf-formula.ts';
import type { Breaker, Color, Line, Run, Style } from './pdf-line.ts';
import type { Flow } from './pdf-page.ts';
import { diagramAddress, type Image, type Images } from './pdf-image.ts';

export const colors = {
  ink: [17, 24, 39],
  second: [91, 100, 114],
  line: [214, 219, 227],
  accent: [37, 99, 235],
  soft: [243, 245, 248],
  head: [233, 237, 243],
  code: [246, 248, 250],
  mine: [238, 243, 254],
} as const satisfies Record<string, Color>;

const sizes = {
  text: 10.5,
  code: 8.6,
  small: 8.6,
  headings: [16, 14, 12.5, 11.5, 11, 10.5],
} as const;
const codeLeading = 1.45;
/** Nested deeper than this, text goes on as it is written. */
const deepest = 12;
const mostColumns = 24;

export interface Writer {
  flow: Flow;
  breaker: Breaker;
  formulas: Formulas;
  images: Images;
  /** This server's address, before links that lead to its own pages. Empty: not known. */
  base: string;
}

const plain: Style = { kind: 'plain', size: sizes.text, color: colors.ink };

export const createMarkdown = ({ flow, breaker, formulas, images, base }: Writer) => {
  const linkOf = (href: string): string | null => {
    const link = safeLink(decodeEntities(href), base);
    if (!link) return null;
    if (!link.internal) return link.href;
    return base === '' ? null : base + link.href;
  };

  /** The source under a drawn formula: not seen, but found and copied. */
  const hiddenSource = (tex: string, style: Style, width: number) => {
    const [line] = breaker.breakLines([{ text: tex.slice(0, 500), style }], Infinity);
    if (!line || line.width <= 0) return null;
    const size = Math.min(style.size, (style.size * width) / line.width);
    return (x: number, y: number) => {
      let from = x;
      for (const piece of line.pieces) {
        if (!piece.glyph) continue;
        flow.glyphs(piece.glyph.face, { ...style, size }, from, y, piece.glyph.hex, true);
        from += (piece.width * size) / style.size;
      }
    };
  };

  const formulaRun = (tex: string, display: boolean, style: Style, most: number): Run => {
    const source = tex.trim();
    const box = formulas.box(source, display, style, most);
    if (!box) return { text: source, style: { ...style, kind: 'mono' } };
    const hidden = hiddenSource(source, { ...style, kind: 'mono' }, box.width);
    return {
      style,
      box: {
        ...box,
        draw: (x, y) => {
          box.draw(x, y);
          hidden?.(x, y);
        },
      },
    };
  };

  /** The runs of tokens that stand in lines; images among them go into `found`. */
  const runsOf = (
    tokens: readonly Token[] | undefined,
    style: Style,
    found: Tokens.Image[],
    depth = 0,
  ): Run[] => {
    if (!tokens) return [];
    if (depth > deepest) return [{ text: tokens.map((token) => token.raw).join(''), style }];
    return tokens.flatMap((generic): Run[] => {
      // The lexer's union has one open member, which makes every field of it `any`.
      const token = generic as MarkedToken;
      switch (token.type) {
        case 'strong':
          return runsOf(token.tokens, { ...style, kind: 'bold' }, found, depth + 1);
        case 'em':
          return runsOf(token.tokens, { ...style, slanted: true }, found, depth + 1);
        case 'del':
          return runsOf(token.tokens, { ...style, struck: true }, found, depth + 1);
        case 'codespan':
          return [
            {
              text: token.text,
              style: { ...style, kind: 'mono', size: style.size * 0.92, ground: colors.head },
            },
          ];
        case 'br':
          return [{ end: true }];
        case 'link': {
          const link = linkOf(token.href);
          const linked: Style = link === null ? style : { ...style, color: colors.accent, link };
          return runsOf(token.tokens, linked, found, depth + 1);
        }
        case 'image': {
          found.push(token);
          return [];
        }
        case 'escape':
          return [{ text: token.text, style }];
        case 'text':
        case 'paragraph':
        case 'heading':
          if ('tokens' in token && token.tokens)
            return runsOf(token.tokens, style, found, depth + 1);
          return [{ text: decodeEntities(token.text).replaceAll('\n', ' '), style }];
        case 'html':
          return [{ text: token.text, style }];
        case 'checkbox':
        case 'def':
        case 'space':
          return [];
        default:
          return runsOfOther(generic, style);
      }
    });
  };

  const runsOfOther = (token: Token, style: Style): Run[] =>
    token.type === 'math' && 'text' in token
      ? [
          formulaRun(
            String(token.text),
            'display' in token && token.display === true,
            style,
            flow.width,
          ),
        ]
      : [{ text: token.raw, style }];

  const drawImage = (image: Image) => {
    const scale = Math.min(1, flow.width / image.width, 420 / image.height);
    const width = image.width * scale;
    const height = image.height * scale;
    flow.need(height);
    flow.paintGrounds(height);
    images.draw(image, flow.left, flow.y, width, height);
    flow.y += height;
    flow.space(6);
  };

  const showImage = (address: string, words: string) => {
    const image = images.get(address);
    if (image) {
      drawImage(image);
      return;
    }
    const style: Style = { kind: 'plain', size: sizes.small, color: colors.second };
    const name = words === '' ? '' : `：${words}`;
    const text = `［图片没有放进来${name}　${address.startsWith('data:') ? '内嵌图片' : address}］`;
    flow.lines(breaker.breakLines([{ text, style }], flow.width), { size: sizes.small });
    flow.space(4);
  };

  const showImages = (found: readonly Tokens.Image[]) => {
    for (const image of found) {
      const address = safeImage(decodeEntities(image.href));
      const words = decodeEntities(image.text);
      if (address !== null) showImage(address, words);
      else {
        const text = words === '' ? '［图片］' : `［图片：${words}］`;
        const style = { ...plain, color: colors.second };
        flow.lines(breaker.breakLines([{ text, style }], flow.width), { size: sizes.text });
      }
    }
  };

  const paragraph = (tokens: readonly Token[] | undefined, style: Style, after: number) => {
    const found: Tokens.Image[] = [];
    const runs = runsOf(tokens, style, found);
    if (runs.some((run) => !('text' in run) || run.text.trim() !== ''))
      flow.lines(breaker.breakLines(runs, flow.width), { size: style.size });
    showImages(found);
    flow.space(after);
  };

  const code = (text: string, language: string) => {
    const drawing = isDiagram(language) ? images.get(diagramAddress + text) : null;
    if (drawing) {
      drawImage(drawing);
      return;
    }
    const style: Style = { kind: 'mono', size: sizes.code, color: colors.ink };
    flow.need(44);
    flow.inside({ left: 9, right: 9, pad: 7, color: colors.code }, () => {
      if (language !== '') {
        const label: Style = { kind: 'plain', size: 7, color: colors.second };
        flow.lines(breaker.breakLines([{ text: language, style: label }], flow.width), {
          size: 7,
        });
      }
      for (const source of text.replace(/\n$/, '').split('\n'))
        flow.lines(breaker.breakLines([{ text: source, style }], flow.width, true), {
          size: sizes.code,
          leading: codeLeading,
        });
    });
    flow.space(8);
  };

  const formula = (tex: string) => {
    const run = formulaRun(tex, true, { ...plain, size: 11.5 }, flow.width);
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

  /** Widths that give each column what it needs, and more to those that have more to say. */
  const columnWidths = (cells: readonly (readonly Run[])[][], columns: number): number[] => {
    const most = flow.width;
    const padding = 10;
    const wanted = Array.from({ length: columns }, () => 24);
    const least = Array.from({ length: columns }, () => 24);
    for (const row of cells.slice(0, 200))
      for (let at = 0; at < columns; at++) {
        const { whole, word } = breaker.measure(row[at] ?? []);
        wanted[at] = Math.max(wanted[at] ?? 0, whole + padding + 1);
        least[at] = Math.max(least[at] ?? 0, Math.min(word + padding + 1, most / 3));
      }
    const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
    if (sum(wanted) <= most) return wanted;
    const room = most - sum(least);
    if (room <= 0) return least.map((one) => (one / sum(least)) * most);
    const more = wanted.map((one, at) => one - (least[at] ?? 0));
    return least.map((one, at) => one + ((more[at] ?? 0) / sum(more)) * room);
  };

  const table = (token: Tokens.Table) => {
    const columns = Math.min(token.header.length, mostColumns);
    const cellStyle: Style = { ...plain, size: 9.5 };
    const headStyle: Style = { ...cellStyle, kind: 'bold' };
    const found: Tokens.Image[] = [];
    const head = token.header
      .slice(0, columns)
      .map((cell) => runsOf(cell.tokens, headStyle, found));
    const body = token.rows.map((row) =>
      row.slice(0, columns).map((cell) => runsOf(cell.tokens, cellStyle, found)),
    );
    const widths = columnWidths([head, ...body], columns);
    const x0 = flow.left;
    const total = widths.reduce((all, one) => all + one, 0);
    const pad = 4;

    const rowLines = (row: readonly Run[][]): Line[][] =>
      widths.map((width, at) => breaker.breakLines(row[at] ?? [], width - 10));
    const heightOf = (line: Line) => flow.sizeOf(line, 1.4, cellStyle.size).height;

    /** As many lines of each cell as the page has room for; gives what is left. */
    const drawPart = (cells: readonly Line[][], isHead: boolean): Line[][] => {
      const room = flow.room - pad * 2;
      let tallest = 0;
      const parts = cells.map((lines) => {
        let height = 0;
        let count = 0;
        for (const line of lines) {
          const next = heightOf(line);
          if (height + next > room && count > 0) break;
          height += next;
          count += 1;
        }
        tallest = Math.max(tallest, height);
        return count;
      });
      const height = tallest + pad * 2;
      flow.paintGrounds(height);
      if (isHead) flow.fill(x0, flow.y, total, height, colors.head);
      let x = x0;
      cells.forEach((lines, at) => {
        const width = widths[at] ?? 0;
        const align = token.header[at]?.align;
        let y = flow.y + pad;
        for (const line of lines.slice(0, parts[at])) {
          const { height: tall, above } = flow.sizeOf(line, 1.4, cellStyle.size);
          const spare = width - 10 - line.width;
          const shift = align === 'right' ? spare : align === 'center' ? spare / 2 : 0;
          flow.drawLine(line, x + 5 + Math.max(0, shift), y + above);
          y += tall;
        }
        x += width;
      });
      x = x0;
      for (const width of [...widths, 0]) {
        flow.fill(x, flow.y, 0.5, height, colors.line);
        x += width;
      }
      flow.fill(x0, flow.y, total, 0.5, colors.line);
      flow.y += height;
      flow.fill(x0, flow.y, total, 0.5, colors.line);
      return cells.map((lines, at) => lines.slice(parts[at]));
    };

    const headLines = rowLines(head);
    const rowHeight = (cells: readonly Line[][]) =>
      pad * 2 +
      Math.max(...cells.map((lines) => lines.reduce((all, line) => all + heightOf(line), 0)), 0);
    const headHeight = rowHeight(headLines);
    const drawHead = () => void drawPart(headLines, true);
    flow.need(Math.min(headHeight + 30, 300));
    drawHead();
    for (const row of body) {
      let left = rowLines(row);
      const height = rowHeight(left);
      if (height > flow.room && (height < 400 || flow.room < 60)) {
        flow.newPage();
        if (headHeight < 200) drawHead();
      }
      left = drawPart(left, false);
      while (left.some((lines) => lines.length > 0)) {
        flow.newPage();
        if (headHeight < 200) drawHead();
        left = drawPart(left, false);
      }
    }
    flow.space(8);
    showImages(found);
  };

  const list = (token: Tokens.List, style: Style, depth: number, start?: number) => {
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
      } else drawTask(item.checked === true, from, style);
      flow.inside({ left: indent }, () => blocks(item.tokens, style, depth + 1, item.loose));
      at += 1;
    }
    flow.space(depth > 1 ? 2 : 5);
  };

  const drawTask = (done: boolean, { x, y }: { x: number; y: number }, style: Style) => {
    const top = y + style.size * 0.42;
    flow.write(`q 0.8 w 0.36 0.39 0.45 RG ${(x + 1).toFixed(2)} ${top.toFixed(2)} 8 8 re S`);
    if (done)
      flow.write(
        `1.2 w ${(x + 2.6).toFixed(2)} ${(top + 4.2).toFixed(2)} m ${(x + 4.4).toFixed(2)} ${(top + 6).toFixed(2)} l ${(x + 7.6).toFixed(2)} ${(top + 2).toFixed(2)} l S`,
      );
    flow.write('Q');
    const words = hiddenSource(done ? '[x] ' : '[ ] ', { ...style, kind: 'mono' }, 8);
    words?.(x + 1, top + 8);
  };

  const block = (generic: Token, style: Style, depth: number, loose: boolean) => {
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
        paragraph(token.tokens, { ...style, kind: 'bold', size }, 5);
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
          blocks(token.tokens, { ...style, color: colors.second }, depth + 1),
        );
        flow.space(6);
        return;
      case 'list':
        list(token, style, depth);
        return;
      case 'table':
        table(token);
        return;
      case 'code':
        code(token.text, token.lang ?? '');
        return;
      case 'paragraph':
        if (isFormula(token.tokens)) formula(formulaIn(token.tokens));
        else paragraph(token.tokens, style, 6);
        return;
      case 'text':
        paragraph('tokens' in token && token.tokens ? token.tokens : [token], style, loose ? 4 : 2);
        return;
      default:
        if (isFormula([generic])) formula(formulaIn([generic]));
        else paragraph([generic], style, 6);
    }
  };

  /** A paragraph that is one display formula. */
  const isFormula = (tokens: readonly Token[] | undefined): boolean =>
    tokens?.length === 1 &&
    tokens[0]?.type === 'math' &&
    'display' in tokens[0] &&
    tokens[0]['display'] === true;
  const formulaIn = (tokens: readonly Token[] | undefined): string => {
    const [token] = tokens ?? [];
    return token && 'text' in token ? String(token.text) : '';
  };

  const blocks = (
    tokens: readonly Token[] | undefined,
    style: Style,
    depth: number,
    loose = false,
  ) => {
    if (!tokens) return;
    if (depth > deepest) {
      const text = tokens.map((token) => token.raw).join('');
      flow.lines(breaker.breakLines([{ text, style }], flow.width), { size: style.size });
      return;
    }
    // Of a tight list the words stand beside each other in tokens that are no blocks.
    for (const token of tokens) block(token, style, depth + 1, loose);
  };

  return {
    colors,
    /** Writes Markdown as it is shown on the page. */
    write(text: string) {
      for (const each of blocksOf(text)) {
        if (each.kind === 'code') code(each.pieces.join('\n'), each.language);
        else if (each.kind === 'math')
          formula(
            each.text
              .trim()
              .replace(/^(?:\$\$|\\\[)/, '')
              .replace(/(?:\$\$|\\\])$/, ''),
          );
        else {
          const tokens = tokensOf(each);
          const [first] = tokens;
          if (each.start !== undefined && first?.type === 'list') {
            list(first as Tokens.List, plain, 1, each.start);
            blocks(tokens.slice(1), plain, 0);
          } else blocks(tokens, plain, 0);
        }
      }
    },
    /** Writes text as it stands. */
    plainText(text: string, style: Style = plain) {
      const lines = breaker.breakLines([{ text: text.replaceAll('\r', ''), style }], flow.width);
      flow.lines(lines, { size: style.size });
    },
    showImage,
  };
};

const isDiagram = (language: string): boolean => /^mermaid\b/i.test(language);

/** What the diagrams of a Markdown text are drawn from. */
export const diagramsIn = (text: string): string[] =>
  text.includes('mermaid')
    ? blocksOf(text).flatMap((each) =>
        each.kind === 'code' && isDiagram(each.language) ? [each.pieces.join('\n')] : [],
      )
    : [];

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
