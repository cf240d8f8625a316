import { Lexer, Tokenizer, type Token, type Tokens } from 'marked';
import type { TextBlock } from './document.ts';

/** A formula in a line of text, or in lines of its own inside a list or quote. */
export interface MathToken extends Tokens.Generic {
  type: 'math';
  text: string;
  display: boolean;
}

// A price is no formula: no space inside the dollars, no digit behind them, no Chinese between.
const dollarPattern =
  /^\$(?![\s$])((?:\\.|[^\\$\n\u3000-\u9fff\uff00-\uffef]){1,500}?)(?<!\s)\$(?![\d$])/;
const displayPatterns = [
  /^\$\$((?:\\.|[^\\$]){1,4000}?)\$\$/,
  /^\\\[((?:[^\\]|\\(?!\])){1,4000}?)\\\]/,
];
const parenPattern = /^\\\(((?:[^\\\n]|\\(?!\))){1,1000}?)\\\)/;
// Marked closes **…** only beside a space or punctuation; Chinese text has neither.
const strongPattern =
  /^\*\*(?=[^\s*])((?:`[^`\n]*`|[^*`\n]){0,500}?[^\s*`]|`[^`\n]{1,300}`)\*\*(?!\*)/;
const wideCharacter = /[\u2018-\u201d\u2026\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]/;

/** Raw HTML is text like any other. */
class PlainTokenizer extends Tokenizer {
  override html(): undefined {
    return undefined;
  }
  override tag(): undefined {
    return undefined;
  }
  /** An address ends where Chinese text begins. */
  override url(src: string): Tokens.Link | undefined {
    const end = src.search(wideCharacter);
    return super.url(end < 0 ? src : src.slice(0, end));
  }
}

const mathIn = (src: string): MathToken | undefined => {
  for (const pattern of displayPatterns) {
    const found = pattern.exec(src);
    if (found) return { type: 'math', raw: found[0], text: found[1] ?? '', display: true };
  }
  const found = dollarPattern.exec(src) ?? parenPattern.exec(src);
  return found ? { type: 'math', raw: found[0], text: found[1] ?? '', display: false } : undefined;
};

const createLexer = (): Lexer =>
  new Lexer({
    gfm: true,
    tokenizer: new PlainTokenizer(),
    extensions: {
      childTokens: {},
      renderers: {},
      inline: [
        (src) => mathIn(src),
        function strong(src) {
          const found = strongPattern.exec(src);
          if (!found) return undefined;
          const text = found[1] ?? '';
          return { type: 'strong', raw: found[0], text, tokens: this.lexer.inlineTokens(text) };
        },
        (src) => {
          const found = /^<br\s*\/?>/i.exec(src);
          return found ? { type: 'br', raw: found[0] } : undefined;
        },
      ],
      startInline: [(src) => src.search(/\$|\\[([]|<br/i)],
    },
  });

// What nests deeper than this is no text for people; a lexer that recurses would not survive it.
const deepPattern =
  /^[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*){25}|^(?: {100}|\t{25})[ \t]*[-*+\d>]/m;

const tooManyMarks = (text: string): boolean => {
  let brackets = 0;
  let stars = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 91 || char === 60) brackets++;
    else if (char === 42 || char === 95 || char === 126) stars++;
  }
  return brackets > 600 || stars > 1_200;
};

/** Lines of one block: a list's item alone has so many, and each is looked at with all before it. */
const mostLines = 2_000;
/** Cells of a table that its text does not have: short rows are filled up to the head's columns. */
const mostFilled = 200;
/** Whether a line may be the one below a table's head, within quotes and items, too. */
const isDelimiterRow = (line: string): boolean => /-/.test(line) && /^[\s>|:*+\d.)-]*$/.test(line);

/** Whether drawing a block takes far more than its text. */
const swells = (text: string): boolean => {
  const lines = text.split('\n');
  if (lines.length > mostLines) return true;
  for (const line of lines) {
    if (!line.includes('|') || !isDelimiterRow(line)) continue;
    const cells = (line.split('|').length - 1) * lines.length;
    if (cells > mostFilled && cells > text.length) return true;
  }
  return false;
};

const plain = (text: string): Token[] => [
  {
    type: 'paragraph',
    raw: text,
    text,
    tokens: [{ type: 'text', raw: text, text, escaped: false }],
  },
];

const lex = (block: TextBlock): Token[] => {
  const { text } = block;
  if (deepPattern.test(text) || swells(text)) return plain(text);
  if (text.length > 1_000 && tooManyMarks(text)) return plain(text);
  try {
    const lexer = createLexer();
    if (block.links) Object.assign(lexer.tokens.links, block.links);
    if (block.inline) {
      const tokens = lexer.inlineTokens(text);
      return [{ type: 'paragraph', raw: text, text, tokens }];
    }
    return lexer.lex(text);
  } catch {
    return plain(text);
  }
};

const lexed = new WeakMap<TextBlock, Token[]>();

/** The tokens of a block; lexed once for each block object. */
export const tokensOf = (block: TextBlock): Token[] => {
  let tokens = lexed.get(block);
  if (!tokens) {
    tokens = lex(block);
    lexed.set(block, tokens);
  }
  return tokens;
};
