import type { Formulas } from './pdf-formula.ts';
import type { Images } from './pdf-image.ts';
import type { Breaker, Color, Style } from './pdf-line.ts';
import type { Flow } from './pdf-page.ts';

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

export const sizes = {
  text: 10.5,
  code: 8.6,
  small: 8.6,
  headings: [16, 14, 12.5, 11.5, 11, 10.5],
} as const;

export const plain: Style = { kind: 'plain', size: sizes.text, color: colors.ink };

/** What Markdown is written into. */
export interface Writer {
  flow: Flow;
  breaker: Breaker;
  formulas: Formulas;
  images: Images;
  /** This server's address, before links that lead to its own pages. Empty: not known. */
  base: string;
}

/** Writes text as it stands, from line to line. */
export const writeText = ({ flow, breaker }: Writer, text: string, style: Style = plain): void =>
  flow.lines(breaker.breakLines([{ text, style }], flow.width), { size: style.size });
