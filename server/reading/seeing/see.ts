import sharp, { type Sharp } from 'sharp';
import { loadOptional } from '#server/optional-packages.ts';
import type { Piece } from '../layout.ts';
import { findLines } from './find-lines.ts';
import { openPicture, prepared } from './grey.ts';
import { readLines, startReaders } from './line-readers.ts';
import { lineFinder } from './networks.ts';

/** Lines of one picture that are read. */
const mostLines = 200;
/** How finely a page is drawn, pixels an inch, and how large at most. */
const dpi = 200;
const mostSide = 3000;

/** A page as it was looked at: its size in pixels, and by how many degrees it was turned for that. */
export interface LookedAt {
  pieces: Piece[];
  width: number;
  height: number;
  angle: number;
}

/** What stands in a picture, each line in its place. */
const seePicture = async (image: Sharp): Promise<LookedAt> => {
  const finder = await lineFinder();
  startReaders();
  const { grey, angle } = await prepared(image);
  const boxes = (await findLines(grey, finder)).slice(0, mostLines);
  const texts = await readLines(grey, boxes);
  const pieces: Piece[] = [];
  for (const [at, box] of boxes.entries()) {
    const text = texts[at] ?? '';
    // What the network adds round a line is none of its height.
    const height = box.height * 0.7;
    if (text !== '')
      pieces.push({
        x: box.left,
        y: box.top + (box.height - height) / 2,
        width: box.width,
        height,
        text,
      });
  }
  return { pieces, width: grey.width, height: grey.height, angle };
};

/** A page of a PDF as a picture, so many pixels long at most. @throws PackageMissing */
export const pagePicture = async (
  data: Uint8Array,
  page: number,
  longest = mostSide,
): Promise<Sharp> => {
  const { PDFiumLibrary } = await loadOptional('@hyzyla/pdfium');
  const library = await PDFiumLibrary.init();
  const document = await library.loadDocument(data);
  try {
    const sheet = document.getPage(page - 1);
    const { originalWidth: width, originalHeight: height } = sheet.getOriginalSize();
    const scale = Math.min(dpi / 72, longest / Math.max(width, height, 1));
    const made = await sheet.render({ scale, render: 'bitmap' });
    const raw = { width: made.width, height: made.height, channels: 4 as const };
    return sharp(Buffer.from(made.data), { raw });
  } finally {
    document.destroy();
  }
};

/** What stands on a page of a PDF, or in a picture. */
export const see = async (data: Uint8Array, page: number | null): Promise<LookedAt> =>
  seePicture(page === null ? openPicture(data) : await pagePicture(data, page));
