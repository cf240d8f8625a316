import type { MarkedToken, Token, Tokens } from 'marked';
import { decodeEntities } from '#common/markdown/entities.ts';
import { safeLink } from '#common/markdown/safe-url.ts';
import type { Run, Style } from './pdf-line.ts';
import { colors, type Writer } from './pdf-style.ts';

/** Nested deeper than this, text goes on as it is written. */
export const deepest = 12;

const linkOf = (base: string, href: string): string | null => {
  const link = safeLink(decodeEntities(href), base);
  if (!link) return null;
  if (!link.internal) return link.href;
  return base === '' ? null : base + link.href;
};

/** The source under a drawn formula: not seen, but found and copied. */
export const hiddenSource = (
  { flow, breaker }: Writer,
  tex: string,
  style: Style,
  width: number,
) => {
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

export const formulaRun = (
  writer: Writer,
  tex: string,
  display: boolean,
  style: Style,
  most: number,
): Run => {
  const source = tex.trim();
  const box = writer.formulas.box(source, display, style, most);
  if (!box) return { text: source, style: { ...style, kind: 'mono' } };
  const hidden = hiddenSource(writer, source, { ...style, kind: 'mono' }, box.width);
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
export const runsOf = (
  writer: Writer,
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
        return runsOf(writer, token.tokens, { ...style, kind: 'bold' }, found, depth + 1);
      case 'em':
        return runsOf(writer, token.tokens, { ...style, slanted: true }, found, depth + 1);
      case 'del':
        return runsOf(writer, token.tokens, { ...style, struck: true }, found, depth + 1);
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
        const link = linkOf(writer.base, token.href);
        const linked: Style = link === null ? style : { ...style, color: colors.accent, link };
        return runsOf(writer, token.tokens, linked, found, depth + 1);
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
          return runsOf(writer, token.tokens, style, found, depth + 1);
        return [{ text: decodeEntities(token.text).replaceAll('\n', ' '), style }];
      case 'html':
        return [{ text: token.text, style }];
      case 'checkbox':
      case 'def':
      case 'space':
        return [];
      default:
        return runsOfOther(writer, generic, style);
    }
  });
};

const runsOfOther = (writer: Writer, token: Token, style: Style): Run[] =>
  token.type === 'math' && 'text' in token
    ? [
        formulaRun(
          writer,
          String(token.text),
          'display' in token && token.display === true,
          style,
          writer.flow.width,
        ),
      ]
    : [{ text: token.raw, style }];
