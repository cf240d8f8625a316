import type { Token, Tokens } from 'marked';
import { decodeEntities } from '#common/markdown/entities.ts';
import { tokensOf } from '#common/markdown/lex.ts';

/** A stretch of words in one look. */
export interface Run {
  text: string;
  bold?: boolean;
  italic?: boolean;
  code?: boolean;
}

export type Part =
  | { kind: 'heading'; level: number; runs: Run[] }
  | { kind: 'paragraph'; runs: Run[] }
  | { kind: 'item'; depth: number; mark: string; runs: Run[] }
  | { kind: 'quote'; runs: Run[] }
  | { kind: 'code'; lines: string[] }
  | { kind: 'rule' }
  | { kind: 'table'; rows: Run[][][] };

/** Nested deeper than this, lists go on at the same depth. */
const deepest = 8;

const runsOf = (tokens: readonly Token[] = [], look: Omit<Run, 'text'> = {}): Run[] =>
  tokens.flatMap((token): Run[] => {
    const inner = 'tokens' in token ? token.tokens : undefined;
    switch (token.type) {
      case 'strong':
        return runsOf(inner, { ...look, bold: true });
      case 'em':
        return runsOf(inner, { ...look, italic: true });
      case 'codespan':
        return [{ ...look, text: decodeEntities((token as Tokens.Codespan).text), code: true }];
      case 'br':
        return [{ ...look, text: '\n' }];
      case 'link': {
        const { href, text } = token as Tokens.Link;
        const words = runsOf(inner, look);
        // On paper an address that is not written is lost.
        return href === text ? words : [...words, { ...look, text: `（${href}）` }];
      }
      case 'image':
        return [{ ...look, text: `[图片：${(token as Tokens.Image).text || '无说明'}]` }];
      case 'html':
        return [];
      default:
        return inner && inner.length > 0
          ? runsOf(inner, look)
          : [{ ...look, text: decodeEntities('text' in token ? String(token.text) : token.raw) }];
    }
  });

const itemsOf = (list: Tokens.List, depth: number): Part[] =>
  list.items.flatMap((item, at): Part[] => {
    const mark = list.ordered ? `${(list.start || 1) + at}.` : '•';
    const parts: Part[] = [];
    let own: Run[] = [];
    for (const token of item.tokens)
      if (token.type === 'list') parts.push(...itemsOf(token as Tokens.List, depth + 1));
      else if (own.length === 0) own = runsOf([token]);
      else parts.push(...partsOf([token]));
    return [{ kind: 'item', depth: Math.min(depth, deepest), mark, runs: own }, ...parts];
  });

const partsOf = (tokens: readonly Token[]): Part[] =>
  tokens.flatMap((token): Part[] => {
    switch (token.type) {
      case 'space':
      case 'def':
      case 'html':
        return [];
      case 'heading': {
        const { depth, tokens: inner } = token as Tokens.Heading;
        return [{ kind: 'heading', level: depth, runs: runsOf(inner) }];
      }
      case 'list':
        return itemsOf(token as Tokens.List, 0);
      case 'code':
        return [{ kind: 'code', lines: (token as Tokens.Code).text.split('\n') }];
      case 'hr':
        return [{ kind: 'rule' }];
      case 'blockquote':
        return partsOf((token as Tokens.Blockquote).tokens).map((part) =>
          part.kind === 'paragraph' ? { ...part, kind: 'quote' } : part,
        );
      case 'table': {
        const { header, rows } = token as Tokens.Table;
        return [
          {
            kind: 'table',
            rows: [header, ...rows].map((row) => row.map((cell) => runsOf(cell.tokens))),
          },
        ];
      }
      default:
        return [
          {
            kind: 'paragraph',
            runs: runsOf('tokens' in token && token.tokens ? token.tokens : [token]),
          },
        ];
    }
  });

/** Markdown as the parts that office files are made of: in one piece, so that no table is cut. */
export const contentOf = (markdown: string): Part[] =>
  partsOf(tokensOf({ kind: 'text', text: markdown, inline: false, continues: false, open: false }));

export const plainOf = (runs: readonly Run[]): string => runs.map(({ text }) => text).join('');
