import type { Face, Faces, Glyph } from './pdf-face.ts';

export type Color = readonly [red: number, green: number, blue: number];

export interface Style {
  kind: 'plain' | 'bold' | 'mono';
  /** Points. */
  size: number;
  color: Color;
  slanted?: boolean;
  struck?: boolean;
  /** Where it leads. */
  link?: string;
  /** Ground behind it. */
  ground?: Color;
}

/** A piece of a line that is no text: a formula. */
export interface Box {
  /** Points. `above` and `below` the line that letters stand on. */
  width: number;
  above: number;
  below: number;
  /** Draws it with its left end at x on the base line y, from the top of the page. */
  draw: (x: number, y: number) => void;
}

export type Run = { text: string; style: Style } | { box: Box; style: Style } | { end: true };

/** One glyph, or a box, in the middle of being put into lines. */
export interface Piece {
  glyph: Glyph | null;
  box: Box | null;
  style: Style;
  /** What it stands for where the glyph does not say so itself; else empty. */
  actual: string;
  /** Points. */
  width: number;
}

export interface Line {
  pieces: Piece[];
  /** Points, of all pieces. */
  width: number;
}

const isInvisible = (code: number): boolean =>
  code < 0x20 ||
  (code >= 0x7f && code < 0xa0) ||
  code === 0xad ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  code === 0xfeff;

/** What only changes the character before it: variants, joiners, skins. */
const isModifier = (code: number): boolean =>
  (code >= 0xfe00 && code <= 0xfe0f) ||
  code === 0x200d ||
  code === 0x20e3 ||
  (code >= 0x1f3fb && code <= 0x1f3ff) ||
  (code >= 0xe0020 && code <= 0xe007f);

const noStart = new Set('、。，．：；！？）］｝〕〉》」』】’”…—～％,.:;!?)]}%°℃');
const noEnd = new Set('（［｛〔〈《「『【‘“([{$￥¥');

const isWide = (code: number): boolean =>
  (code >= 0x2e80 && code <= 0xa4cf) ||
  (code >= 0xac00 && code <= 0xd7a3) ||
  (code >= 0xf900 && code <= 0xfaff) ||
  (code >= 0xfe30 && code <= 0xfe4f) ||
  (code >= 0xff00 && code <= 0xffef) ||
  (code >= 0x1f000 && code <= 0x3ffff);

/** A character that no face has: an empty square, which copies out as what it stands for. */
const stranger = 0x25a1;

const isSpace = (piece: Piece | undefined): boolean =>
  Boolean(piece?.glyph) && piece?.glyph?.hex === piece?.glyph?.face.glyph(0x20)?.hex;

/** Puts pieces that come one by one into lines of at most `width` points; see `breakLines`. */
const createLines = (width: number, keep: boolean) => {
  const lines: Line[] = [];
  let pieces: Piece[] = [];
  let used = 0;
  /** Pieces before this one may stay in the line when the next does not fit. */
  let breakAt = 0;
  let usedAtBreak = 0;
  let before = '';
  let beforeWide = false;

  const endLine = (upTo: number) => {
    const rest = pieces.splice(upTo);
    let end = pieces.length;
    if (!keep) while (end > 0 && isSpace(pieces[end - 1])) end -= 1;
    pieces.length = end;
    lines.push({ pieces, width: pieces.reduce((sum, piece) => sum + piece.width, 0) });
    pieces = rest;
    used = rest.reduce((sum, piece) => sum + piece.width, 0);
    breakAt = 0;
    usedAtBreak = 0;
  };

  const put = (piece: Piece, character: string, wide: boolean) => {
    const space = character === ' ';
    const mayBreak =
      pieces.length > 0 &&
      !space &&
      (before === ' ' ||
        ((wide || beforeWide || (before === '-' && !keep) || before === '/') &&
          !noStart.has(character) &&
          !noEnd.has(before)));
    if (mayBreak) {
      breakAt = pieces.length;
      usedAtBreak = used;
    }
    const hangs = space && !keep;
    if (used + piece.width > width && pieces.length > 0 && !hangs) {
      if (breakAt > 0 && usedAtBreak > width * 0.3) endLine(breakAt);
      else endLine(pieces.length);
    }
    if (!(space && !keep && pieces.length === 0)) {
      pieces.push(piece);
      used += piece.width;
    }
    before = character;
    beforeWide = wide;
  };

  return {
    put,
    end: () => {
      endLine(pieces.length);
      before = '';
    },
    /** A modifier is not drawn, but copied out with the character before it. */
    modify: (modifier: string) => {
      const last = pieces.at(-1);
      if (last?.glyph && last.actual !== '') last.actual += modifier;
    },
    all: (): Line[] => {
      if (pieces.length > 0 || lines.length === 0) endLine(pieces.length);
      return lines;
    },
  };
};

export const createBreaker = (faces: Faces) => {
  const find = (chain: readonly Face[], code: number): Glyph | null => {
    for (const face of chain) {
      const glyph = face.glyph(code);
      if (glyph) return glyph;
    }
    return null;
  };

  const glyphPiece = (glyph: Glyph, style: Style, actual = ''): Piece => ({
    glyph,
    box: null,
    style,
    actual,
    width: (glyph.width * style.size) / 1000,
  });

  const putText = (lines: ReturnType<typeof createLines>, text: string, style: Style) => {
    const chain = faces[style.kind];
    for (const character of text) {
      const code = character.codePointAt(0) ?? 0;
      if (character === '\n') lines.end();
      else if (isModifier(code)) lines.modify(character);
      else if (character === '\t') {
        const space = find(chain, 0x20);
        if (space) for (let at = 0; at < 4; at++) lines.put(glyphPiece(space, style), ' ', false);
      } else if (!isInvisible(code)) {
        const known = find(chain, code === 0xa0 || code === 0x3000 ? 0x20 : code);
        const glyph = known ?? find(chain, stranger) ?? find(chain, 0x3f);
        const actual = known && code <= 0xffff ? '' : character;
        const count = known && code === 0x3000 ? 2 : 1;
        if (glyph)
          for (let at = 0; at < count; at++)
            lines.put(glyphPiece(glyph, style, actual), character, isWide(code));
      }
    }
  };

  /**
   * Puts runs into lines of at most `width` points; `end` begins a new one. Words are broken where
   * nothing else helps. `keep`: spaces at the beginning and the end of lines stay, as in code.
   */
  const breakLines = (runs: readonly Run[], width: number, keep = false): Line[] => {
    const lines = createLines(width, keep);
    for (const run of runs) {
      if ('end' in run) lines.end();
      else if ('box' in run) {
        const { box, style } = run;
        lines.put({ glyph: null, box, style, actual: '', width: box.width }, '\uFFFC', true);
      } else putText(lines, run.text, run.style);
    }
    return lines.all();
  };

  /** Width of runs in one line and of their widest word, points, looking at most at the beginning. */
  const measure = (runs: readonly Run[]): { whole: number; word: number } => {
    let whole = 0;
    let line = 0;
    let word = 0;
    let open = 0;
    const add = (width: number, breaks: boolean) => {
      line += width;
      whole = Math.max(whole, line);
      open = breaks ? width : open + width;
      word = Math.max(word, open);
    };
    for (const run of runs) {
      if ('end' in run) {
        line = 0;
        open = 0;
      } else if ('box' in run) add(run.box.width, true);
      else
        for (const character of run.text.slice(0, 2000)) {
          const code = character.codePointAt(0) ?? 0;
          const glyph = find(faces[run.style.kind], code);
          if (!glyph || isModifier(code)) continue;
          const breaks = character === ' ' || isWide(code);
          add((glyph.width * run.style.size) / 1000, breaks);
          if (breaks) open = 0;
        }
    }
    return { whole, word };
  };

  return { breakLines, measure };
};

export type Breaker = ReturnType<typeof createBreaker>;
