import type PDFKit from 'pdfkit';
import type { Face } from './pdf-face.ts';
import type { Color, Line, Piece, Style } from './pdf-line.ts';

/** Points. */
export const paper = { width: 595.28, height: 841.89, side: 54, top: 56, bottom: 60 } as const;

/** What lies behind and beside the lines of a block, on every page that it reaches. */
interface Ground {
  left: number;
  right: number;
  color: Color | null;
  /** A bar at the left. */
  bar: Color | null;
}

interface PageDocument {
  addContent: (content: string) => void;
}

const number = (value: number): string => String(Math.round(value * 100) / 100);
const rgb = (color: Color, operator: 'rg' | 'RG'): string =>
  `${color.map((part) => number(part / 255)).join(' ')} ${operator}`;

const hexOf = (text: string): string => {
  let hex = 'FEFF';
  for (let at = 0; at < text.length; at++)
    hex += text.charCodeAt(at).toString(16).padStart(4, '0').toUpperCase();
  return hex;
};

/** The pieces of a line that are drawn in one go. */
const together = (one: Piece, other: Piece | undefined): boolean =>
  other?.glyph !== undefined &&
  other.glyph !== null &&
  other.style === one.style &&
  other.glyph.face === one.glyph?.face &&
  other.actual === '';

/** What draws on the page that is open. */
const createInk = (document: PDFKit.PDFDocument) => {
  const write = (content: string) => (document as unknown as PageDocument).addContent(content);

  const fill = (x: number, top: number, width: number, height: number, color: Color) =>
    write(
      `${rgb(color, 'rg')} ${number(x)} ${number(top)} ${number(width)} ${number(height)} re f`,
    );

  const glyphs = (
    face: Face,
    style: Style,
    x: number,
    base: number,
    hex: string,
    hidden = false,
  ) => {
    face.use();
    const slant = style.slanted ? 0.2 : 0;
    const text =
      `BT ${rgb(style.color, 'rg')} /${face.id} ${number(style.size)} Tf ` +
      `1 0 ${slant} -1 ${number(x)} ${number(base)} Tm <${hex}> Tj ET`;
    write(hidden ? `q 3 Tr ${text} Q` : text);
  };

  const drawLine = (line: Line, x: number, base: number) => {
    let from = x;
    for (let at = 0; at < line.pieces.length;) {
      const piece = line.pieces[at];
      if (!piece) break;
      const { glyph, box, style } = piece;
      if (box) {
        box.draw(from, base);
        from += piece.width;
        at += 1;
        continue;
      }
      if (!glyph) {
        at += 1;
        continue;
      }
      let { hex } = glyph;
      let { width } = piece;
      at += 1;
      while (piece.actual === '' && together(piece, line.pieces[at])) {
        hex += line.pieces[at]?.glyph?.hex ?? '';
        width += line.pieces[at]?.width ?? 0;
        at += 1;
      }
      if (style.ground)
        fill(from - 1, base - style.size * 0.92, width + 2, style.size * 1.22, style.ground);
      if (piece.actual !== '') write(`/Span <</ActualText <${hexOf(piece.actual)}>>> BDC`);
      glyphs(glyph.face, style, from, base, hex);
      if (piece.actual !== '') write('EMC');
      if (style.struck) fill(from, base - style.size * 0.32, width, 0.7, style.color);
      if (style.link !== undefined) {
        fill(from, base + 1.6, width, 0.5, style.color);
        document.link(from, base - style.size, width, style.size * 1.3, style.link);
      }
      from += width;
    }
  };

  return { write, fill, glyphs, drawLine };
};

/** Height of a line, and of what of it lies above the base line. Points. */
const sizeOf = (line: Line, leading: number, size: number): { height: number; above: number } => {
  let above = size * 0.95;
  let below = size * 0.25;
  for (const { box, style } of line.pieces) {
    above = Math.max(above, box ? box.above : style.size * 0.95);
    below = Math.max(below, box ? box.below : style.size * 0.25);
  }
  const gap = Math.max(0, size * leading - size * 1.2);
  return { height: above + below + gap, above: above + gap / 2 };
};

/** Text goes from the top of one page to the next; y counts from the top, in points. */
export const createFlow = (document: PDFKit.PDFDocument, beginPage: () => void) => {
  const ink = createInk(document);
  const { fill, drawLine } = ink;
  const grounds: Ground[] = [];
  const bottom = paper.height - paper.bottom;
  let y: number = paper.top;
  let left: number = paper.side;
  let right: number = paper.width - paper.side;

  const paintGrounds = (height: number) => {
    for (const ground of grounds) {
      if (ground.color)
        // A little more than the band, so that no seam shows between two of them.
        fill(ground.left, y, ground.right - ground.left, height + 0.3, ground.color);
      if (ground.bar) fill(ground.left, y, 2.5, height + 0.3, ground.bar);
    }
  };

  const newPage = () => {
    document.addPage();
    beginPage();
    y = paper.top;
  };

  /** Begins a new page where less than this is left. */
  const need = (height: number) => {
    if (y + height > bottom && y > paper.top) newPage();
  };

  /** Moves down; at the top of a page there is nothing to move away from. */
  const space = (height: number) => {
    if (y <= paper.top) return;
    if (y + height > bottom) {
      newPage();
      return;
    }
    paintGrounds(height);
    y += height;
  };

  return {
    ...ink,
    need,
    space,
    newPage,
    sizeOf,
    paintGrounds,
    get y() {
      return y;
    },
    set y(value: number) {
      y = value;
    },
    get left() {
      return left;
    },
    get width() {
      return right - left;
    },
    /** What is left of the page. */
    get room() {
      return bottom - y;
    },
    /** Writes lines below each other; each may begin a new page. */
    lines(lines: readonly Line[], { size, leading = 1.55 }: { size: number; leading?: number }) {
      for (const line of lines) {
        const { height, above } = sizeOf(line, leading, size);
        need(height);
        paintGrounds(height);
        drawLine(line, left, y + above);
        y += height;
      }
    },
    /** Does something further in, on a ground or beside a bar. */
    inside(
      {
        left: by = 0,
        right: less = 0,
        pad = 0,
        ...look
      }: {
        left?: number;
        right?: number;
        /** Above and below. */
        pad?: number;
        color?: Color;
        bar?: Color;
      },
      act: () => void,
    ) {
      const kept = { left, right };
      const marked = look.color !== undefined || look.bar !== undefined;
      if (marked) grounds.push({ left, right, color: look.color ?? null, bar: look.bar ?? null });
      // Lines of letters never become narrower than this, however deep they nest.
      left = Math.min(left + by, right - 90);
      right = Math.max(right - less, left + 90);
      if (pad > 0) {
        need(pad + 24);
        paintGrounds(pad);
        y += pad;
      }
      act();
      if (pad > 0 && y + pad <= bottom) {
        paintGrounds(pad);
        y += pad;
      }
      ({ left, right } = kept);
      if (marked) grounds.pop();
    },
  };
};

export type Flow = ReturnType<typeof createFlow>;
