import { createRequire } from 'node:module';
import path from 'node:path';
import type PDFKit from 'pdfkit';

/** What of a font PDFKit keeps to itself and its types do not tell. */
interface EmbeddedFont {
  id: string;
  ref: () => unknown;
  scale: number;
  /** Code points by number within the subset, for what is copied out of the file. */
  unicode: number[][];
  /** Advances by number within the subset, thousandths of the size. */
  widths: number[];
  subset: { includeGlyph: (glyph: number) => number };
  font: {
    hasGlyphForCodePoint: (code: number) => boolean;
    glyphForCodePoint: (code: number) => { id: number; advanceWidth: number };
  };
}

interface OpenDocument {
  _font: EmbeddedFont;
  page: { fonts: Record<string, unknown> };
}

export interface Glyph {
  face: Face;
  /** As it stands in the content stream. */
  hex: string;
  /** Thousandths of the size. */
  width: number;
}

export interface Face {
  /** Its name in the page's resources. */
  id: string;
  glyph: (code: number) => Glyph | null;
  /** Makes it known to the page that is open. */
  use: () => void;
}

const require = createRequire(import.meta.url);

/** The file of a package, wherever the package lies. */
const fileOf = (name: string, file: string): string =>
  path.join(path.dirname(require.resolve(`${name}/package.json`)), file);

const notoFolder = (): string =>
  path.join(path.dirname(require.resolve('@embedpdf/fonts-sc')), '..', 'fonts');

const embedded = (document: PDFKit.PDFDocument, name: string, file: string): Face => {
  document.registerFont(name, file);
  document.font(name);
  const inner = document as unknown as OpenDocument;
  const font = inner._font;
  const known = new Map<number, Glyph | null>();
  const face: Face = {
    id: font.id,
    glyph: (code) => {
      let glyph = known.get(code);
      if (glyph !== undefined) return glyph;
      if (font.font.hasGlyphForCodePoint(code)) {
        const { id, advanceWidth } = font.font.glyphForCodePoint(code);
        const place = font.subset.includeGlyph(id);
        font.widths[place] ??= advanceWidth * font.scale;
        font.unicode[place] ??= [code];
        const hex = place.toString(16).padStart(4, '0');
        glyph = { face, hex, width: font.widths[place] };
      } else glyph = null;
      known.set(code, glyph);
      return glyph;
    },
    use: () => {
      inner.page.fonts[font.id] ??= font.ref();
    },
  };
  return face;
};

/** Advance of every character of Courier, thousandths of the size. */
const courierWidth = 600;

/** The reader's own typewriter face: it has ASCII, and nothing of it needs to be in the file. */
const courier = (document: PDFKit.PDFDocument, name: 'Courier' | 'Courier-Bold'): Face => {
  document.font(name);
  const inner = document as unknown as OpenDocument;
  const font = inner._font;
  const face: Face = {
    id: font.id,
    glyph: (code) =>
      code >= 0x20 && code < 0x7f
        ? { face, hex: code.toString(16).padStart(2, '0'), width: courierWidth }
        : null,
    use: () => {
      inner.page.fonts[font.id] ??= font.ref();
    },
  };
  return face;
};

export interface Faces {
  plain: readonly Face[];
  bold: readonly Face[];
  /** For code. */
  mono: readonly Face[];
  /** What PDFKit calls the plain face: for text inside of formulas. */
  name: string;
}

/** The faces for each kind of text, each with those that stand in for what it does not have. */
export const openFaces = (document: PDFKit.PDFDocument): Faces => {
  const noto = (weight: string) =>
    embedded(document, weight, path.join(notoFolder(), `NotoSansHans-${weight}.otf`));
  const plain = noto('Regular');
  const bold = noto('Bold');
  const emoji = embedded(
    document,
    'Emoji',
    fileOf('@fontsource/noto-emoji', 'files/noto-emoji-emoji-400-normal.woff'),
  );
  const mono = courier(document, 'Courier');
  return {
    plain: [plain, emoji],
    bold: [bold, plain, emoji],
    mono: [mono, plain, emoji],
    name: 'Regular',
  };
};
