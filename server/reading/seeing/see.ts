import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';
import { loadOptional } from '#server/optional-packages.ts';
import type { Piece } from '../layout.ts';
import { findLines } from './find-lines.ts';
import { type Grey, openPicture, prepared } from './grey.ts';
import { type Line, readLines, startReaders } from './line-readers.ts';
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

/** A picture that is being read. It goes from one process to the next while others have their turn. */
export interface Looking {
  grey: Grey;
  angle: number;
  lines: Line[];
  /** Of the processor, that went into it, s. */
  spent: number;
}

/** Finds the lines of a picture; none of them is read yet. */
const look = async (image: Sharp): Promise<Looking> => {
  const finder = await lineFinder();
  startReaders();
  const { grey, angle } = await prepared(image);
  const boxes = (await findLines(grey, finder)).slice(0, mostLines);
  return { grey, angle, lines: boxes.map((box) => ({ box, text: null })), spent: 0 };
};

/** What stands in a picture as far as it is read, each line in its place. */
export const lookedAt = ({ grey, angle, lines }: Looking): LookedAt => {
  const pieces: Piece[] = [];
  for (const { box, text } of lines) {
    // What the network adds round a line is none of its height.
    const height = box.height * 0.7;
    if (text !== null && text !== '')
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

const bitmapOf = async (data: Uint8Array, page: number, longest: number) => {
  const { PDFiumLibrary } = await loadOptional('@hyzyla/pdfium');
  const library = await PDFiumLibrary.init();
  const document = await library.loadDocument(data);
  try {
    const sheet = document.getPage(page - 1);
    const { originalWidth: width, originalHeight: height } = sheet.getOriginalSize();
    const scale = Math.min(dpi / 72, longest / Math.max(width, height, 1));
    const made = await sheet.render({ scale, render: 'bitmap' });
    const raw = { width: made.width, height: made.height, channels: 4 as const };
    return { pixels: Buffer.from(made.data), raw };
  } finally {
    document.destroy();
  }
};

/** A page of a PDF as a picture, so many pixels long at most. @throws PackageMissing */
export const pagePicture = async (
  data: Uint8Array,
  page: number,
  longest = mostSide,
): Promise<Sharp> => {
  const { pixels, raw } = await bitmapOf(data, page, longest);
  return sharp(pixels, { raw });
};

/**
 * Looks at a page of a PDF, or at a picture, unless there is no need.
 * @param isKnown whether what a page shows, which the mark stands for, was seen before
 */
export const beginLooking = async (
  data: Uint8Array,
  page: number | null,
  isKnown: (mark: string) => boolean,
): Promise<{ mark: string; looking: Looking | null }> => {
  if (page === null) return { mark: '', looking: await look(openPicture(data)) };
  const { pixels, raw } = await bitmapOf(data, page, mostSide);
  const size = `${raw.width} ${raw.height}`;
  const mark = createHash('sha256').update(size).update(pixels).digest('base64url');
  return { mark, looking: isKnown(mark) ? null : await look(sharp(pixels, { raw })) };
};

/** Reads on, until all is read or the time is over. */
export const readOn = ({ grey, lines }: Looking, isOver: () => boolean): Promise<void> =>
  readLines(grey, lines, isOver);

/** What stands on a page of a PDF, or in a picture. */
export const see = async (data: Uint8Array, page: number | null): Promise<LookedAt> => {
  const looking = await look(page === null ? openPicture(data) : await pagePicture(data, page));
  await readOn(looking, () => false);
  return lookedAt(looking);
};
