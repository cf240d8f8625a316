import { formulaFits, formulaRules } from '#common/markdown/bounds.ts';
import type PDFKit from 'pdfkit';
import type Draw from 'svg-to-pdfkit';
import type { Box, Style } from './pdf-line.ts';

interface Drawing {
  svg: string;
  /** Thousandths of the size: as MathJax draws, from its viewBox. */
  left: number;
  top: number;
  width: number;
  height: number;
}

type Convert = (tex: string, display: boolean) => string;

interface Engine {
  /** TeX to an SVG in HTML. */
  convert: Convert;
  draw: typeof Draw;
}

const open = async (): Promise<Convert> => {
  const [{ mathjax }, { TeX }, { SVG }, { liteAdaptor }, { RegisterHTMLHandler }, { AllPackages }] =
    await Promise.all([
      import('mathjax-full/js/mathjax.js'),
      import('mathjax-full/js/input/tex.js'),
      import('mathjax-full/js/output/svg.js'),
      import('mathjax-full/js/adaptors/liteAdaptor.js'),
      import('mathjax-full/js/handlers/html.js'),
      import('mathjax-full/js/input/tex/AllPackages.js'),
    ]);
  const adaptor = liteAdaptor();
  RegisterHTMLHandler(adaptor);
  // Nothing that loads more code or makes links and styles of its own.
  const left = new Set(['require', 'autoload', 'html', 'action', 'noerrors', 'noundefined']);
  const page = mathjax.document('', {
    InputJax: new TeX({
      packages: AllPackages.filter((name: string) => !left.has(name)),
      maxMacros: 500,
      maxBuffer: 5 * 1024,
    }),
    OutputJax: new SVG({ fontCache: 'none' }),
  });
  return (tex, display) => {
    const node = page.convert(tex, { display, em: 16, ex: 8, containerWidth: 80 * 16 }) as never;
    return adaptor.innerHTML(node);
  };
};

/** Elements within elements, which are drawn by recursion: macros may nest deeper than their text tells. */
const deepest = 300;
const depthOf = (html: string): number => {
  let depth = 0;
  let most = 0;
  for (const [tag] of html.matchAll(/<\/?[a-z][^>]*>/gi)) {
    if (tag.endsWith('/>')) continue;
    depth += tag.startsWith('</') ? -1 : 1;
    most = Math.max(most, depth);
  }
  return most;
};

/** Square em that its rules fill, of which a thousand units are one. */
const inkOf = (html: string): number => {
  let ink = 0;
  for (const [rule] of html.matchAll(/<rect\b[^>]*>/g)) {
    const side = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(rule)?.[1] ?? 0);
    ink += (side('width') * side('height')) / 1e6;
  }
  return ink;
};

const parse = (html: string): Drawing | null => {
  // An error stands in the drawing as red text; the source says more.
  if (html.includes('data-mjx-error') || html.includes('data-mml-node="merror"')) return null;
  if (depthOf(html) > deepest) return null;
  if (inkOf(html) > formulaRules.ink) return null;
  const svg = /^<svg[\s\S]*<\/svg>$/.exec(html)?.[0];
  const box = /viewBox="(-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+)"/.exec(html);
  if (!svg || !box) return null;
  const [left = 0, top = 0, width = 0, height = 0] = box.slice(1).map(Number);
  if (![left, top, width, height].every(Number.isFinite) || width <= 0 || height <= 0) return null;
  return { svg: svg.replaceAll('currentColor', '#111827'), left, top, width, height };
};

const kept = 2_000;

/** Draws formulas as outlines. Loads what that needs with the first one. */
export const createFormulas = (document: PDFKit.PDFDocument, faceName: string) => {
  let loading: Promise<Engine> | undefined;
  let engine: Engine | undefined;
  const drawings = new Map<string, Drawing | null>();

  const drawingOf = (tex: string, display: boolean): Drawing | null => {
    const key = `${display ? 1 : 0}${tex}`;
    let drawing = drawings.get(key);
    if (drawing !== undefined) return drawing;
    try {
      drawing = engine && formulaFits(tex) ? parse(engine.convert(tex, display)) : null;
    } catch {
      drawing = null;
    }
    if (drawings.size < kept) drawings.set(key, drawing);
    return drawing;
  };

  return {
    load: async (): Promise<void> => {
      loading ??= Promise.all([open(), import('svg-to-pdfkit')]).then(([convert, module]) => ({
        convert,
        draw: module.default,
      }));
      engine = await loading;
    },

    /** The formula as a piece of a line, at most `most` points wide; null when it is none. */
    box: (tex: string, display: boolean, style: Style, most: number): Box | null => {
      const drawing = drawingOf(tex, display);
      if (!drawing) return null;
      const natural = style.size / 1000;
      const scale = Math.min(natural, most / drawing.width, 700 / drawing.height);
      const width = drawing.width * scale;
      const height = drawing.height * scale;
      const above = -drawing.top * scale;
      return {
        width,
        above: Math.max(above, 0),
        below: Math.max(height - above, 0),
        draw: (x, y) => {
          document.save();
          try {
            engine?.draw(document, drawing.svg, x, y - above, {
              width,
              height,
              assumePt: true,
              preserveAspectRatio: 'xMinYMin meet',
              fontCallback: () => faceName,
              warningCallback: () => undefined,
            });
          } finally {
            document.restore();
          }
        },
      };
    },
  };
};

export type Formulas = ReturnType<typeof createFormulas>;
