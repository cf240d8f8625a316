import { parentPort, workerData } from 'node:worker_threads';
import { usualForms } from '#server/search/forms.ts';
import type { DrawnPage, DrawTask } from './draw-page.ts';
import { pdfPage } from './pdf.ts';
import { openPicture } from './seeing/grey.ts';
import { pagePicture } from './seeing/see.ts';

/** Draws a page of a file that somebody sent; whoever started this ends it. */

/** Pixels of the longer side: letters of a page are read well on a phone that shows it whole. */
const longest = 1500;
/** Places of words that are told of a page. */
const mostLines = 4000;

const share = (part: number, whole: number): number => Math.round((part / whole) * 10_000) / 10_000;

const draw = async ({ data, page }: DrawTask): Promise<DrawnPage> => {
  const image = page === null ? openPicture(data).rotate() : await pagePicture(data, page, longest);
  const side = {
    width: longest,
    height: longest,
    fit: 'inside',
    withoutEnlargement: true,
  } as const;
  const made = await image
    .flatten({ background: '#fff' })
    .resize(side)
    .webp({ quality: 72 })
    .toBuffer({ resolveWithObject: true });
  const { pieces, width, height } =
    page === null ? { pieces: [], width: 1, height: 1 } : await pdfPage(data, page);
  return {
    picture: new Uint8Array(made.data),
    width: made.info.width,
    height: made.info.height,
    lines: pieces.slice(0, mostLines).map((piece) => ({
      text: usualForms(piece.text),
      x: share(piece.x, width),
      y: share(piece.y, height),
      width: share(piece.width, width),
      height: share(piece.height, height),
    })),
  };
};

parentPort?.postMessage(await draw(workerData as DrawTask).catch(() => null), []);
