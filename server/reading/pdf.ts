import { createRequire } from 'node:module';
import path from 'node:path';
import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { pathToFileURL } from 'node:url';
import { lockedFile, Unwanted } from './block.ts';
import type { Piece } from './layout.ts';

const require = createRequire(import.meta.url);

/** Pages beyond these are left out even where the text is still short. */
const mostPages = 2000;

/** Pixels of a picture that is decoded to be drawn; a scan of A4 at 200 dpi has four times as many. */
const mostPixels = 1_000_000;

/**
 * Opens a PDF. To be called in a thread of its own.
 * @param stopAtErrors false: what cannot be drawn of a page is left out, as are larger pictures
 * @throws Unwanted where it has a password
 */
const openPdf = async (data: Uint8Array, stopAtErrors = false) => {
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const root = path.dirname(require.resolve('pdfjs-dist/package.json'));
  const folder = (name: string) => `${pathToFileURL(path.join(root, name)).href}/`;
  const task = pdfjs.getDocument({
    data: new Uint8Array(data),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    stopAtErrors,
    maxImageSize: mostPixels,
    cMapUrl: folder('cmaps').replace('file://', ''),
    cMapPacked: true,
    standardFontDataUrl: folder('standard_fonts').replace('file://', ''),
    verbosity: 0,
  });
  try {
    return await task.promise;
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException')
      throw new Unwanted(lockedFile);
    throw error;
  }
};

/** Fewer letters on a page may be a stamp on a picture of text. */
const fewLetters = 6;
/** Strokes from which on a page without letters may show them as drawings. */
const manyStrokes = 40;

/**
 * Whether only the picture of a page tells what stands there.
 * @param strictly gives the same page, which is drawn up to its first error alone
 */
const isPicture = async (
  page: PDFPageProxy,
  letters: number,
  strictly: () => Promise<PDFPageProxy>,
): Promise<boolean> => {
  if (letters >= fewLetters) return false;
  const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const { fnArray } = await page.getOperatorList();
  const images: ReadonlySet<number> = new Set([
    OPS.paintImageXObject,
    OPS.paintInlineImageXObject,
    OPS.paintImageMaskXObject,
  ]);
  const strokes = fnArray.filter((drawn) => drawn === OPS.constructPath).length;
  if (fnArray.some((drawn) => images.has(drawn))) return true;
  if (letters === 0 && strokes >= manyStrokes) return true;
  if (fnArray.length === 0) return false;
  // A picture that is too large to be decoded here, or writing whose font is broken, was left out.
  const whole = await (await strictly()).getOperatorList();
  return whole.fnArray.length < fnArray.length;
};

/** What is written on a page, each piece in its place. */
const piecesOf = async (page: PDFPageProxy): Promise<Piece[]> => {
  const { transform } = page.getViewport({ scale: 1 });
  const { items } = await page.getTextContent({ disableNormalization: false });
  const pieces: Piece[] = [];
  for (const item of items) {
    if (!('str' in item) || item.str.trim() === '') continue;
    const [, , c = 0, d = 0, e = 0, f = 0] = item.transform as number[];
    const [a1 = 1, b1 = 0, c1 = 0, d1 = -1, e1 = 0, f1 = 0] = transform;
    const height = Math.max(1, Math.hypot(c, d));
    const x = a1 * e + c1 * f + e1;
    const y = b1 * e + d1 * f + f1 - height;
    pieces.push({ x, y, width: item.width, height, text: item.str.replaceAll('\0', '') });
  }
  return pieces;
};

/** One page, from 1: what is written on it, and its size in the same measure. @throws Unwanted */
export const pdfPage = async (
  data: Uint8Array,
  number: number,
): Promise<{ pieces: Piece[]; width: number; height: number }> => {
  const page = await (await openPdf(data)).getPage(number);
  const { width, height } = page.getViewport({ scale: 1 });
  return { pieces: await piecesOf(page), width, height };
};

/**
 * What is written on a PDF's pages, up to so many letters in all, each piece in its place, and which
 * pages are pictures.
 */
export const pdfPages = async (
  data: Uint8Array,
  most: number,
): Promise<{ pages: Piece[][]; pictures: number[]; count: number; cut: boolean }> => {
  const document = await openPdf(data);
  const pages: Piece[][] = [];
  const pictures: number[] = [];
  let strict: ReturnType<typeof openPdf> | undefined;
  let length = 0;
  const count = Math.min(document.numPages, mostPages);
  for (let at = 1; at <= count && length <= most; at += 1) {
    const page = await document.getPage(at);
    const pieces = await piecesOf(page);
    length += pieces.reduce((sum, { text }) => sum + text.length, 0);
    pages.push(pieces);
    const letters = pieces.reduce((sum, { text }) => sum + text.trim().length, 0);
    const strictly = async () => (await (strict ??= openPdf(data, true))).getPage(at);
    if (await isPicture(page, letters, strictly)) pictures.push(at);
    page.cleanup();
  }
  return { pages, pictures, count, cut: count < document.numPages || pages.length < count };
};
